import { cpSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { docs, pictureOf } from './diagrams.mjs';

const { repository, description } = JSON.parse(readFileSync(join(docs, '..', 'package.json'), 'utf8'));

const index = readFileSync(join(docs, 'README.md'), 'utf8');

/** The groups and pages of the index. */
function sidebar() {
  const groups = [];
  for (const line of index.split('\n')) {
    const heading = /^## (.+)/.exec(line);
    if (heading) groups.push({ text: heading[1], collapsed: groups.length > 1, items: [] });
    const page = /^- \[(.+?)\]\((.+?)\.md\)/.exec(line);
    if (page) groups.at(-1)?.items.push({ text: page[1], link: `/${page[2].replace(/(^|\/)README$/, '$1')}` });
  }
  return groups.filter(({ items }) => items.length > 0);
}

/** Links to the source lead to the repository. Without its address they are text. */
function withoutSource(md) {
  md.core.ruler.push('links-to-source', ({ tokens, env }) => {
    for (const { children } of tokens) {
      let isOutside = false;
      for (const token of children ?? []) {
        const href = token.type === 'link_open' ? token.attrGet('href') : undefined;
        if (href && !/^(?:[a-z]+:|#)/.test(href)) {
          const target = posix.normalize(posix.join('docs', posix.dirname(env.relativePath), href));
          isOutside = !target.startsWith('docs/');
          if (isOutside && repository) token.attrSet('href', `${repository.url.replace(/^git\+|\.git$/g, '')}/blob/main/${target}`);
        }
        if (!isOutside || repository) continue;
        if (token.type === 'link_close') isOutside = false;
        if (token.type.startsWith('link_')) Object.assign(token, { type: 'text', tag: '', content: '', nesting: 0 });
      }
    }
  });
}

export default defineConfig({
  title: 'Holdfast',
  description,
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  cleanUrls: true,
  rewrites: (path) => path.replace(/(^|\/)README\.md$/, '$1index.md'),
  // The pages are in another folder than Vue.
  vite: {
    resolve: {
      alias: [
        { find: 'vue/server-renderer', replacement: fileURLToPath(import.meta.resolve('vue/server-renderer')) },
        { find: /^vue$/, replacement: fileURLToPath(import.meta.resolve('vue/dist/vue.runtime.esm-bundler.js')) },
      ],
    },
  },
  markdown: {
    config(md) {
      withoutSource(md);
      const { fence } = md.renderer.rules;
      md.renderer.rules.fence = (tokens, index, ...rest) =>
        tokens[index].info.trim() === 'mermaid' ? pictureOf(tokens[index].content) : fence(tokens, index, ...rest);
    },
  },
  /** Coding agents read llms.txt and the pages as Markdown. */
  buildEnd({ outDir }) {
    for (const name of readdirSync(docs))
      if (name !== '.vitepress')
        cpSync(join(docs, name), join(outDir, name), { recursive: true, filter: (path) => !/\.(?:webp|svg)$/.test(path) });
    writeFileSync(join(outDir, 'llms.txt'), index.replace(/^# .*\n/, `# Holdfast\n\n> ${description}\n`));
  },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: sidebar(),
    nav: [
      { text: 'Tutorial', link: '/tutorial' },
      { text: 'Reference', link: '/reference/configuration' },
      { text: 'Operations', link: '/operations/' },
    ],
    outline: [2, 3],
  },
});
