import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const site = join(__dirname, '..', '..', '..', 'docs', '.vitepress');
const filesOfDiagrams = `import { diagramsOf, fileOf } from './diagrams.mjs'; console.log(JSON.stringify(diagramsOf().map(fileOf)));`;

it('each Mermaid diagram of the docs has a drawing in docs/.vitepress/diagrams, and no drawing is left over', () => {
  const told = execFileSync(process.execPath, ['--input-type=module', '-e', filesOfDiagrams], { cwd: site, encoding: 'utf8' });
  const files = JSON.parse(told) as readonly string[];
  expect(files.length).toBeGreaterThan(0);
  const drawn = readdirSync(join(site, 'diagrams')).map((name) => join(site, 'diagrams', name));
  expect(drawn.sort()).toEqual([...files].sort());
});
