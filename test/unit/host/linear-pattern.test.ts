import { z } from 'zod';
import { linearOf, patternOf } from '../../../host/linear-pattern';

const texts = [
  ...['', 'a', 'A', 'b', 'ab', 'aab', 'abc', 'a-b', '-', '_', '.', 'x.y', '/', '\\', '[', ']', '{', '}', '{,3}', 'a{,3}', '^', '$', '&&'],
  ...['|'],
  ...['0', '7', '42', 'a1', 'foo bar', ' ', '\t', '\n', 'a\n', '\na', 'a\nb', 'a\r\nb', '\r', '\u2028', '\u2029', '\u00a0', '\ufeff'],
  ...['\u3000', '\u0085'],
  ...['\u180e', '\0', '\b', '\v', '\f', '\x01', '\x1b', 'é', 'É', 'ß', 'ñandú', 'Σ', 'ς', 'K', 'ſ', '日本', 'א', '😀', '😀😀', 'a😀'],
  ...['\ud83d'],
  ...['\ude00', '\ud83da'],
  ...['aaaaaaaa', 'a'.repeat(999), 'a'.repeat(1000), 'a'.repeat(1001), 'a'.repeat(2048), 'a'.repeat(2049), 'ab'.repeat(600)],
  ...['😀'.repeat(1500)],
  ...['2026-02-29', '2024-02-29', 'ann@example.com', 'u', 'U0041', 'p{L}', 'x41', 'cA', ':', 'alpha', 'T', 'é1', 'e\u0301'],
];

const linear = [
  ...['', 'a', '^a', 'a$', '^a$', '^$', '^a*$', 'a|b', '^(a|b)+$', '^(?:a|b)?$', '(?<name>a)b', '(a)(?<b>b)', '^a+?b', '^(a+)+$', '()'],
  ...['(?:)', '|', 'a||b'],
  ...['.', '^.$', '^..$', '^.*$', '[^]', '^[^]$', '[]', '[^a]', '^[^a]$', '[a-c]', '^[a-zA-Z_][\\w.-]*$', '[.]', '[*+?]', '[[]', '[\\]]'],
  ...['[\\\\]', '[\\^]', '[-a]', '[a-]'],
  ...['\\s', '\\S', '^\\s$', '^\\S$', '[\\s]', '[^\\s]', '[\\S]', '[^\\S]', '^[\\sa]+$', '[^\\s\\d]', '\\d', '\\D', '^\\D$', '\\w'],
  ...['\\W', '[\\w]', '[\\W]', '[^\\W_]'],
  ...['\\b', '\\B', '\\ba', 'a\\b', '\\Ba', '[\\b]', '\\t', '\\n', '\\v', '\\f', '\\r', '\\0', '\\cA', '\\x41', '\\u0041', '\\u{41}'],
  ...['\\u{1F600}', '\\ud83d\\ude00'],
  ...['\\ud83d', '^\\ud83d$', '\\u00e9', '😀', '^😀$', '^[😀]$', '[\\u{1F600}-\\u{1F64F}]', '\\/', '/', '\\.', '\\*', '\\[', '\\{', '\\}'],
  ...['\\|', '\\^', '\\$', '\\\\', '\\-', '\\_', '\\@', '\\,'],
  ...['{', '}', ']', '{,3}', 'a{,3}', 'a{2', '[\\w-x]', '[\\w-]', '[a-c-e]', '[:alpha:]', '[[:alpha:]]', '[a&&b]', '[(?:]', '(?:[|])'],
  ...['a{2}', '^a{2}$', '^a{2,}$', '^a{0}$', '^a{0,0}b', '^a{1,3}?$', '^a{1000}$', '^a{1001}$', '^a{1,2048}$', '^[^]{1,2048}$'],
  ...['^(ab){0,1024}$', '^a{1024,}$'],
  ...['^.{1499,1500}$', 'x{0}', '\\p{L}', '^\\p{Lu}$', '\\P{L}', '[\\p{L}\\d]', '[^\\p{L}]', '\\p{Script=Greek}', '\\p{sc=Hebrew}'],
  ...['\\p{Nd}', '\\p{gc=Lu}', '\\p{Script=Han}'],
];

const native = (source: string): RegExp => {
  try {
    return new RegExp(source, 'u');
  } catch {
    return new RegExp(source);
  }
};

describe('a pattern of JavaScript', () => {
  it.each(linear)('means the same in the linear engine: %j', (source) => {
    const pattern = patternOf(source);
    expect({ linear: pattern.linear }).toEqual({ linear: true });
    expect(texts.filter((text) => pattern.test(text) !== native(source).test(text))).toEqual([]);
  });

  it.each<[string, string, boolean]>([
    ['^(?:a{1,500}){1,4}$', 'a'.repeat(2000), true],
    ['^(?:a{1,500}){1,4}$', 'a'.repeat(2001), false],
    ['^(?:(?:a{0,63}b){1,16}){1,4}$', 'aab'.repeat(64), true],
    ['^(?:(?:a{0,63}b){1,16}){1,4}$', 'aab'.repeat(65), false],
    ['^(?:(?:a{0,63}b){1,16}){1,4}$', `${'a'.repeat(64)}b`, false],
  ])('may have repetitions in repetitions: %s', (source, text, fits) => {
    expect(patternOf(source)).toMatchObject({ linear: true });
    expect(patternOf(source).test(text)).toBe(fits);
  });

  it.each([
    '(?=a)b',
    '\\U0041',
    '(?!a)',
    '(?<=a)b',
    '(?<!a)b',
    '(a)\\1',
    '(?<n>a)\\k<n>',
    '\\1',
    '\\012',
    '\\e',
    '\\ca1|\\c',
    '[\\B]',
    'a{30000}',
    '(?:a{200}){200}',
  ])('that it cannot take is checked as JavaScript does, on 1,000 characters: %j', (source) => {
    const pattern = patternOf(source);
    expect({ linear: pattern.linear }).toEqual({ linear: false });
    const short = texts.filter((text) => text.length <= 1000);
    expect(short.filter((text) => pattern.test(text) !== native(source).test(text))).toEqual([]);
    expect(() => pattern.test('a'.repeat(1001))).toThrow('a text of 1001 characters cannot be checked against the pattern');
  });

  it.each(['(', '[', 'a**', '\\', '(?<a>b)(?<a>c)', '[b-a]', 'a{3,2}'])('that is none is refused: %j', (source) => {
    expect(() => patternOf(source)).toThrow(SyntaxError);
  });

  it.each(['^(a+)+$', '^(a|aa)+$', '^(\\w+\\s?)*$', '(.*a){12}$', '^(a?){500}a{500}$'])('does not take for ever: %j', (source) => {
    expect(patternOf(source).test(`${'a'.repeat(50_000)}!`)).toBe(false);
  });

  it('that zod writes for a format is taken whole', () => {
    const { iso, email, emoji, hostname, iban, uuid, jwt, ipv6, url } = z;
    const formats = [iso.datetime({ offset: true, precision: 3 }), iso.date(), iso.time(), iso.duration(), email(), emoji(), hostname()];
    const patterns = [...formats, iban(), uuid(), jwt(), ipv6(), url()].flatMap((schema) => z.toJSONSchema(schema).pattern ?? []);
    expect(patterns.length).toBeGreaterThan(8);
    expect(patterns.filter((source) => !patternOf(source).linear)).toEqual([]);
  });
});

it.each<[string, Parameters<typeof linearOf>[1], string, string | undefined]>([
  ['TEA', { ignoreCase: true }, 'buy tea', 'tea'],
  ['^b.*d$', { multiline: true }, 'a\nbcd\ne', 'bcd'],
  ['foo$', { multiline: true }, 'foo\r\nbar', 'foo\r'],
  ['foo$\\s^bar', { multiline: true }, 'foo\nbar', 'foo\nbar'],
  ['o.*r', { dotAll: true }, 'foo\nbar', 'oo\nbar'],
  ['o.*?r', { dotAll: true }, 'foor r', 'oor'],
  ['o.*r', {}, 'foo\nbar', undefined],
  ['a{1,1500}?', {}, 'aaa', 'a'],
  ['a{1,1500}', {}, 'aaa', 'aaa'],
])('an expression of a search %j %j in %j', (source, flags, text, found) => {
  const matches = linearOf(source, flags)!.engine.matcher(text);
  expect(matches.find() ? matches.group() : undefined).toBe(found);
});
