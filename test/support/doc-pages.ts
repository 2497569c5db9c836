import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** From the sources, and from dist. */
export const root =
  [resolve(__dirname, '..', '..'), resolve(__dirname, '..', '..', '..')].find((path) => existsSync(join(path, 'docs'))) ?? '';

/** The pages of `docs`, without the packages of the site. */
export const docPages: readonly string[] = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md') && !name.startsWith('.vitepress'))
  .map((name) => `docs/${name.replaceAll('\\', '/')}`);
