import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '../parity/random';
import { docPages, root } from './doc-pages';

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
  return docPages.flatMap((page) => readFileSync(join(root, page), 'utf8').match(/[a-zA-Z]+[.,]?/g) ?? []);
}
