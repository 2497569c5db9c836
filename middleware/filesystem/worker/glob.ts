import { HoldfastError } from '../../../contract/errors';

type Token = { readonly kind: 'text'; readonly character: string } | { readonly kind: 'any' } | { readonly kind: 'many' } | Class;
interface Class {
  readonly kind: 'class';
  readonly inverted: boolean;
  readonly ranges: readonly (readonly [string, string])[];
}

const mostAlternatives = 256;
const mostSigns = 500;
const mostBraces = 32;

/** Whether paths fit a pattern: `*`, `?`, `[a-z]`, `{a,b}` and `**` for any number of folders. Takes no more than path times pattern. */
export function globMatcher(pattern: string): (path: string) => boolean {
  if (pattern.length > mostSigns)
    throw new HoldfastError('tool-input-invalid', `The pattern has ${pattern.length} signs; at most ${mostSigns} are taken.`);
  if (pattern.split('{').length - 1 > mostBraces)
    throw new HoldfastError('tool-input-invalid', `The pattern has more than ${mostBraces} braces. Use fewer.`);
  const alternatives = expanded(pattern).map((one) => one.split('/').map((segment) => (segment === '**' ? '**' : tokensOf(segment))));
  return (path) => {
    const segments = path.split('/');
    return alternatives.some((alternative) => fits(alternative, segments));
  };
}

/** Braces stand for as many patterns. */
function expanded(pattern: string): readonly string[] {
  const open = pattern.indexOf('{');
  const close = open < 0 ? -1 : closing(pattern, open);
  if (close < 0) return [pattern];
  const [before, inside, after] = [pattern.slice(0, open), pattern.slice(open + 1, close), pattern.slice(close + 1)];
  const all = choices(inside).flatMap((choice) => expanded(`${before}${choice}${after}`));
  if (all.length > mostAlternatives)
    throw new HoldfastError('tool-input-invalid', `The pattern stands for more than ${mostAlternatives} patterns. Use fewer braces.`);
  return all;
}

function closing(pattern: string, open: number): number {
  let depth = 0;
  for (let at = open; at < pattern.length; at++) {
    if (pattern[at] === '{') depth += 1;
    if (pattern[at] === '}' && --depth === 0) return at;
  }
  return -1;
}

function choices(inside: string): readonly string[] {
  const found: string[] = [''];
  let depth = 0;
  for (const character of inside) {
    if (character === '{') depth += 1;
    if (character === '}') depth -= 1;
    if (character === ',' && depth === 0) found.push('');
    else found[found.length - 1] += character;
  }
  return found;
}

function tokensOf(segment: string): readonly Token[] {
  const tokens: Token[] = [];
  const characters = [...segment];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? '';
    const end = character === '[' ? characters.indexOf(']', at + 2) : -1;
    if (character === '*') tokens.push({ kind: 'many' });
    else if (character === '?') tokens.push({ kind: 'any' });
    else if (end > 0) {
      tokens.push(classOf(characters.slice(at + 1, end)));
      at = end;
    } else tokens.push({ kind: 'text', character });
  }
  return tokens;
}

function classOf(characters: readonly string[]): Class {
  const inverted = characters[0] === '!' || characters[0] === '^';
  const inside = inverted ? characters.slice(1) : characters;
  const ranges: (readonly [string, string])[] = [];
  for (let at = 0; at < inside.length; at++) {
    const first = inside[at] ?? '';
    const isRange = inside[at + 1] === '-' && inside[at + 2] !== undefined;
    ranges.push([first, isRange ? (inside[at + 2] ?? first) : first]);
    if (isRange) at += 2;
  }
  return { kind: 'class', inverted, ranges };
}

function fits(pattern: readonly (readonly Token[] | '**')[], segments: readonly string[]): boolean {
  return wild(
    pattern,
    segments,
    (token) => token === '**',
    (token, segment) => token !== '**' && segmentFits(token, segment),
  );
}

function segmentFits(tokens: readonly Token[], segment: string): boolean {
  return wild(
    tokens,
    [...segment],
    ({ kind }) => kind === 'many',
    (token, character) => tokenFits(token, character),
  );
}

/** Only the last wildcard can be the one that has to take more, so there is one place to go back to. */
function wild<Pattern, Item>(
  pattern: readonly Pattern[],
  items: readonly Item[],
  isMany: (token: Pattern) => boolean,
  matches: (token: Pattern, item: Item) => boolean,
): boolean {
  let [at, item] = [0, 0];
  let back: { readonly at: number; item: number } | undefined;
  while (item < items.length) {
    const token = pattern[at];
    if (token !== undefined && isMany(token)) {
      back = { at, item };
      at += 1;
    } else if (token !== undefined && matches(token, items[item] as Item)) {
      at += 1;
      item += 1;
    } else if (back !== undefined) {
      back.item += 1;
      [at, item] = [back.at + 1, back.item];
    } else return false;
  }
  return pattern.slice(at).every(isMany);
}

function tokenFits(token: Token, character: string): boolean {
  switch (token.kind) {
    case 'text':
      return token.character === character;
    case 'class':
      return token.ranges.some(([first, last]) => first <= character && character <= last) !== token.inverted;
    default:
      return true;
  }
}
