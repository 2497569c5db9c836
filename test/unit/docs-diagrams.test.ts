import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '..', '..');

it('each Mermaid diagram of the docs has a drawing in site/diagrams, and no drawing is left over', () => {
  const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
  const texts = pages.flatMap((name) => [...readFileSync(join(root, 'docs', name), 'utf8').matchAll(/^```mermaid\n(.*?)^```$/gms)]);
  const files = texts.map(([, text = '']) => `${createHash('sha256').update(text.trim()).digest('hex').slice(0, 12)}.svg`);
  expect(files.length).toBeGreaterThan(0);
  expect(readdirSync(join(root, 'site', 'diagrams')).sort()).toEqual(files.sort());
});
