import { z } from 'zod';
import type { RE2JS } from 're2js';

interface SchemaPattern {
  test(text: string): boolean;
  /** The check's time grows only with the length of the text. */
  readonly linear: boolean;
}

/** The check would take too long, so the value does not fit. */
export class NotChecked extends Error {}

/** Most characters for JavaScript's engine, where RE2 refuses the pattern. */
export const mostNative = 1000;
const mostParts = 20_000;

/** zod's fast patterns with look-ahead, as for `z.iso.duration()`. */
const ofZod = new Set(
  [...Object.values(z.regexes), z.regexes.emoji()].flatMap((pattern: unknown) => (pattern instanceof RegExp ? [pattern.source] : [])),
);

export function patternOf(source: string): SchemaPattern {
  const native = nativeOf(source);
  const linear = linearOf(source)?.engine;
  if (linear !== undefined) return { linear: true, test: (text) => linear.test(text), toString: () => source } as SchemaPattern;
  const test = (text: string): boolean => {
    if (text.length <= mostNative || ofZod.has(source)) return native.test(text);
    throw new NotChecked(
      `a text of ${text.length} characters cannot be checked against the pattern "${source}", only one of ${mostNative}: ` +
        'a pattern with look-around or back-references, or one that is very large, may take for ever',
    );
  };
  return { linear: ofZod.has(source), test, toString: () => source } as SchemaPattern;
}

/** Returns the patterns that are checked only on short texts. */
export function boundedPatternsIn(schema: unknown): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap(boundedPatternsIn);
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([keyword, value]: [string, unknown]) => {
    if (['enum', 'const', 'default', 'examples'].includes(keyword)) return [];
    if (keyword === 'pattern' && typeof value === 'string') return patternOf(value).linear ? [] : [value];
    const names = keyword === 'patternProperties' ? Object.keys(value as object).filter((name) => !patternOf(name).linear) : [];
    return [...names, ...boundedPatternsIn(value)];
  });
}

export interface LinearExpression {
  readonly engine: RE2JS;
  /** A search takes time in proportion to parts times length. */
  readonly parts: number;
}

/** Undefined: RE2 refuses the pattern. */
export function linearOf(source: string, flags: LinearFlags = {}): LinearExpression | undefined {
  const { unicode } = nativeOf(source);
  try {
    // eslint-disable-next-line @typescript-eslint/no-require-imports
    const { RE2JS: engine } = require('re2js') as typeof import('re2js');
    const { text, parts } = new Translation(source, unicode, flags).whole();
    return { engine: engine.compile(text, flags.ignoreCase === true ? engine.CASE_INSENSITIVE : 0), parts };
  } catch {
    return undefined;
  }
}

interface LinearFlags {
  readonly ignoreCase?: boolean;
  readonly dotAll?: boolean;
  /** `^` and `$` match at lines, after \n or \r\n. */
  readonly multiline?: boolean;
}

/** JSON Schema's flag `u` refuses some old patterns. */
function nativeOf(source: string): RegExp {
  try {
    return new RegExp(source, 'u');
  } catch {
    return new RegExp(source);
  }
}

interface Part {
  readonly text: string;
  readonly parts: number;
  /** RE2 takes at most 1,000 nested repetitions. */
  readonly times: number;
}

const spaces = String.raw`\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`;
const noSpaces = String.raw`\x{0}-\x{8}\x{e}-\x{1f}!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`;
const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, 0: 0 };
const hex = '[\\da-fA-F]';
const escapes = [
  `u\\{(?<long>${hex}+)\\}`,
  `u(?<pair>[dD][89abAB]${hex}{2}\\\\u[dD][c-fC-F]${hex}{2})`,
  `[ux](?<short>(?<=u)${hex}{4}|(?<=x)${hex}{2})`,
  'c(?<control>[a-zA-Z])',
  '(?<property>[pP]\\{[^}]+\\})',
  '(?<escape>[^])',
];
const token = new RegExp(`\\\\(?:${escapes.join('|')})|[^]`, 'uy');
const quantifier = /(?:([*+?])|\{(\d+)(,?)(\d*)\})(\??)/y;

/** Translates a valid pattern for RE2, without captures. Throws without an equivalent. */
class Translation {
  private at = 0;

  constructor(
    private readonly source: string,
    private readonly unicode: boolean,
    private readonly flags: LinearFlags,
  ) {}

  whole(): Part {
    let whole: Part = { text: '', parts: 0, times: 1 };
    while (this.at < this.source.length && this.source[this.at] !== ')') {
      const next = this.took('|') ? { text: '|', parts: 1, times: 1 } : this.repeated(this.atom());
      whole = { text: whole.text + next.text, parts: whole.parts + next.parts, times: Math.max(whole.times, next.times) };
      if (whole.parts > mostParts) throw new Error('too large');
    }
    return whole;
  }

  private took(sign: string): boolean {
    if (!this.source.startsWith(sign, this.at)) return false;
    this.at += sign.length;
    return true;
  }

  private atom(): Part {
    const { dotAll = false, multiline = false } = this.flags;
    const one = (text: string): Part => ({ text, parts: 1, times: 1 });
    if (this.took('[')) return one(this.class());
    if (this.took('.')) return one(dotAll ? '(?s:.)' : String.raw`[^\n\r\x{2028}\x{2029}]`);
    if (this.took('^')) return one(multiline ? '(?m:^)' : '^');
    if (this.took('$')) return one(multiline ? String.raw`(?:\r?(?m:$))` : '$');
    if (!this.took('(')) return one(this.sign(false).text);
    if (!this.took('?:') && this.source[this.at] === '?') {
      const name = /^\?<[^=!>][^>]*>/.exec(this.source.slice(this.at));
      if (name === null) throw new Error('look-around');
      this.at += name[0].length;
    }
    const { text, ...inner } = this.whole();
    this.at += 1;
    return { ...inner, text: `(?:${text})` };
  }

  private repeated(part: Part): Part {
    quantifier.lastIndex = this.at;
    const [all, sign, low = '', comma, high = '', lazy = ''] = quantifier.exec(this.source) ?? [];
    if (all === undefined) return part;
    this.at += all.length;
    if (sign !== undefined) return { ...part, text: part.text + sign + lazy };
    const least = Number(low);
    const most = comma === '' ? least : high === '' ? undefined : Number(high);
    const parts = part.parts * Math.max(1, most ?? least);
    if (parts > mostParts) throw new Error('too large');
    const chunk = Math.max(1, Math.floor(1000 / part.times));
    const exactly = (times: number): string =>
      times === 0 ? '' : `${part.text}{${Math.min(times, chunk)}}${exactly(Math.max(0, times - chunk))}`;
    const upTo = (times: number): string => {
      if (times === 0) return '';
      if (times <= chunk) return `${part.text}{0,${times}}${lazy}`;
      const [more, less] = [`${part.text}{${chunk}}${upTo(times - chunk)}`, `${part.text}{0,${chunk - 1}}${lazy}`];
      return lazy === '' ? `(?:${more}|${less})` : `(?:${less}|${more})`;
    };
    const rest = most === undefined ? `${part.text}*${lazy}` : upTo(most - least);
    return { text: `(?:${exactly(least)}${rest})`, parts, times: part.times * Math.min(chunk, Math.max(1, most ?? least)) };
  }

  private class(): string {
    const negated = this.took('^');
    let text = '';
    while (!this.took(']')) {
      const from = this.sign(true);
      const isRange = this.source[this.at] === '-' && this.source[this.at + 1] !== ']';
      if (isRange) this.at += 1;
      const to = isRange ? this.sign(true) : undefined;
      text += to === undefined ? from.text : `${from.text}${from.single && to.single ? '-' : '\\-'}${to.text}`;
    }
    return text === '' ? `[${negated ? '' : '^'}\\x{0}-\\x{10ffff}]` : `[${negated ? '^' : ''}${text}]`;
  }

  private sign(inClass: boolean): { readonly text: string; readonly single: boolean } {
    token.lastIndex = this.at;
    const { 0: all, groups = {} } = token.exec(this.source) as RegExpExecArray;
    const { long, pair, short, control, property, escape } = groups;
    const several = (text: string) => ({ text, single: false });
    const single = (code: number) => ({ text: `\\x{${code.toString(16)}}`, single: true });
    this.at += all.length;
    if (pair !== undefined) return single((JSON.parse(`"\\u${pair}"`) as string).codePointAt(0) as number);
    if (short !== undefined) return single(parseInt(short, 16));
    if (long !== undefined && this.unicode) return single(parseInt(long, 16));
    if (control !== undefined) return single(control.charCodeAt(0) % 32);
    if (property !== undefined && this.unicode) return several(all.replace(/\{(?:Script|sc|General_Category|gc)=/, '{'));
    if (escape === undefined && all.length <= 2 && !all.startsWith('\\')) return single(all.codePointAt(0) as number);
    if (escape === 's') return several(inClass ? spaces : `[${spaces}]`);
    if (escape === 'S') return several(inClass ? noSpaces : `[^${spaces}]`);
    if (escape === 'b' && inClass) return single(8);
    if (/^[dDwW]$/.test(escape ?? '') || (/^[bB]$/.test(escape ?? '') && !inClass)) return several(all);
    if (escape === '0' && /^\d/.test(this.source.slice(this.at))) throw new Error('octal');
    if (escape !== undefined && escape in controls) return single(controls[escape] as number);
    // Without `u` letters have old meanings, and digits are back-references.
    if (escape === undefined || /^[\da-z]$/i.test(escape)) throw new Error(all);
    return single(escape.codePointAt(0) as number);
  }
}
