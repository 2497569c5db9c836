import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Random } from '../parity/random';

/** From the sources, and from dist. */
const root = [resolve(__dirname, '..', '..'), resolve(__dirname, '..', '..', '..')].find((path) => existsSync(join(path, 'docs'))) ?? '';

let words: readonly string[] | undefined;
const random = new Random('english');

/**
 * Pseudo-random text with the documentation's word frequencies, new in every call. Deflates to 0.52, as English prose does (documentation:
 * 0.49).
 */
export function english(characters: number): string {
  words ??= wordsOfDocs();
  let text = '';
  while (text.length < characters) text += `${random.of(words)} `;
  return text.slice(0, characters);
}

function wordsOfDocs(): readonly string[] {
  const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
  return pages.flatMap((name) => readFileSync(join(root, 'docs', name), 'utf8').match(/[a-zA-Z]+[.,]?/g) ?? []);
}
