import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export const docs = join(import.meta.dirname, '..');

/** The file of a drawn diagram. Its name has the hash of the text, so a changed text has no drawing until `npm run draw` has made one. */
export function fileOf(text) {
  return join(import.meta.dirname, 'diagrams', `${createHash('sha256').update(text.trim()).digest('hex').slice(0, 12)}.svg`);
}

/** All Mermaid diagrams of the docs. */
export function diagramsOf() {
  return readdirSync(docs, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.startsWith('.vitepress'))
    .flatMap((name) => [...readFileSync(join(docs, name), 'utf8').matchAll(/^```mermaid\n(.*?)^```$/gms)].map(([, text]) => text));
}

/** The drawing as an image. */
export function pictureOf(text) {
  const file = fileOf(text);
  if (!existsSync(file))
    throw new Error(`A Mermaid diagram has no drawing: run \`npm run draw\` in docs/.vitepress, with Chromium on the PATH.\n${text}`);
  return `<img class="diagram" alt="Diagram" src="data:image/svg+xml;base64,${readFileSync(file).toString('base64')}">`;
}
