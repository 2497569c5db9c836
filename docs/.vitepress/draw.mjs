import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { diagramsOf, fileOf } from './diagrams.mjs';

/** Draws each Mermaid diagram of the docs once, in Chromium, so that the site and its readers need no Mermaid. */
const { chromium } = createRequire(join(import.meta.dirname, '..', '..', 'package.json'))('playwright-core');
const texts = diagramsOf();
const files = texts.map(fileOf);
const folder = dirname(files[0]);
mkdirSync(folder, { recursive: true });
for (const name of readdirSync(folder)) if (!files.some((file) => basename(file) === name)) rmSync(join(folder, name));

const browser = await chromium.launch({ executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
const page = await browser.newPage();
await page.setContent('<main></main>');
await page.addScriptTag({ content: readFileSync(join(import.meta.dirname, 'node_modules/mermaid/dist/mermaid.min.js'), 'utf8') });
for (const [index, text] of texts.entries()) {
  const svg = await page.evaluate(
    async ([id, source]) => {
      globalThis.mermaid.initialize({
        startOnLoad: false,
        theme: 'neutral',
        htmlLabels: false,
        flowchart: { htmlLabels: false, rankSpacing: 120 },
      });
      return (await globalThis.mermaid.render(id, source)).svg;
    },
    [`diagram-${index}`, text],
  );
  writeFileSync(files[index], svg);
}
await browser.close();
console.log(`${texts.length} diagrams are drawn.`);
