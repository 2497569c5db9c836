import { HoldfastError } from '../../../contract/errors';
import { linearOf } from '../../../host/linear-pattern';

const mostAlternatives = 256;
const mostSigns = 500;
const mostBraces = 32;

/** `*`, `?`, `[a-z]`, `{a,b}` and `**` for any number of folders. Time: at most path times pattern. */
export function globMatcher(pattern: string): (path: string) => boolean {
  if (pattern.length > mostSigns)
    throw new HoldfastError('tool-input-invalid', `The pattern has ${pattern.length} signs; at most ${mostSigns} are taken.`);
  if (pattern.split('{').length - 1 > mostBraces)
    throw new HoldfastError('tool-input-invalid', `The pattern has more than ${mostBraces} braces. Use fewer.`);
  const alternatives = expanded(pattern).flatMap((one) => linearOf(expressionOf(one)) ?? []);
  return (path) => {
    const segments = `\0${path.replaceAll('/', '\0')}`;
    return alternatives.some(({ engine }) => engine.test(segments));
  };
}

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

const any = '[^\\x00]';

/** A NUL precedes each segment, as no path has a NUL and only `**` takes one. */
function expressionOf(pattern: string): string {
  const segments = pattern.split('/').map((segment) => (segment === '**' ? `(?:\\x00${any}*)*` : `\\x00${segmentOf(segment)}`));
  return `^${segments.join('')}$`;
}

function segmentOf(segment: string): string {
  return segment.replace(/\[([^][^\]]*)\]|[^]/gu, (sign, inside?: string) => {
    if (inside !== undefined) return classOf(inside);
    return sign === '*' ? `${any}*` : sign === '?' ? any : exactly(sign);
  });
}

function classOf(inside: string): string {
  const isInverted = /^[!^]/.test(inside);
  const ranges = [...(isInverted ? inside.slice(1) : inside).matchAll(/([^])(?:-([^]))?/gu)].map(([, first = '', last = first]) =>
    codeOf(first) <= codeOf(last) ? `${exactly(first)}-${exactly(last)}` : '',
  );
  return `[${isInverted ? '^\\x00' : ''}${ranges.join('')}]`;
}

function codeOf(sign: string): number {
  return sign.codePointAt(0) ?? 0;
}

function exactly(sign: string): string {
  return `\\u{${codeOf(sign).toString(16)}}`;
}
