/** What a pattern of one's own may be made of: what can be looked for in one pass, whatever the text is. */
export type Node =
  | { readonly type: 'unit'; readonly set: UnitSet }
  | { readonly type: 'boundary' }
  | { readonly type: 'sequence'; readonly items: readonly Node[] }
  | { readonly type: 'choice'; readonly options: readonly Node[] }
  | { readonly type: 'repeat'; readonly item: Node; readonly least: number; readonly most: number };

/** Code units, as pairs of first and last. */
export interface UnitSet {
  readonly ranges: readonly (readonly [number, number])[];
  readonly isNegated: boolean;
}

export class PatternProblem extends Error {}

const digits = [[48, 57]] as const;
const word = [
  [48, 57],
  [65, 90],
  [95, 95],
  [97, 122],
] as const;
const space = [
  [9, 13],
  [32, 32],
  [160, 160],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
] as const;
const classes: Readonly<Record<string, UnitSet['ranges']>> = { d: digits, w: word, s: space };
const controls: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f', v: '\v' };
const mostRepeats = 200;

/** Reads a pattern. The syntax is that of regular expressions, less what looks around or back. */
export function parsePattern(text: string): Node {
  const reader = new PatternReader(text);
  const node = choice(reader);
  if (!reader.atEnd) throw new PatternProblem(`there is a ")" too many at ${reader.position}`);
  return node;
}

/** Whether a node can match without taking anything: such a pattern would be found everywhere. */
export function canBeEmpty(node: Node): boolean {
  switch (node.type) {
    case 'unit':
      return false;
    case 'boundary':
      return true;
    case 'sequence':
      return node.items.every(canBeEmpty);
    case 'choice':
      return node.options.some(canBeEmpty);
    case 'repeat':
      return node.least === 0 || canBeEmpty(node.item);
  }
}

class PatternReader {
  position = 0;
  constructor(private readonly text: string) {}

  get atEnd(): boolean {
    return this.position >= this.text.length;
  }

  get next(): string {
    return this.text[this.position] ?? '';
  }

  get after(): string {
    return this.text[this.position + 1] ?? '';
  }

  take(): string {
    if (this.atEnd) throw new PatternProblem('it ends in the middle of something');
    return this.text[this.position++] ?? '';
  }

  takes(expected: string): boolean {
    if (!this.text.startsWith(expected, this.position)) return false;
    this.position += expected.length;
    return true;
  }
}

function choice(reader: PatternReader): Node {
  const options = [sequence(reader)];
  while (reader.takes('|')) options.push(sequence(reader));
  return options.length === 1 ? (options[0] as Node) : { type: 'choice', options };
}

function sequence(reader: PatternReader): Node {
  const items: Node[] = [];
  while (!reader.atEnd && reader.next !== '|' && reader.next !== ')') items.push(repeated(reader));
  return items.length === 1 ? (items[0] as Node) : { type: 'sequence', items };
}

function repeated(reader: PatternReader): Node {
  const item = atom(reader);
  const times = timesOf(reader);
  if (times === undefined) return item;
  if (reader.next !== '' && '*+?{'.includes(reader.next))
    throw new PatternProblem(`"${reader.next}" behind a repetition is not known here`);
  return { type: 'repeat', item, least: times[0], most: times[1] };
}

function timesOf(reader: PatternReader): readonly [number, number] | undefined {
  if (reader.takes('*')) return [0, Infinity];
  if (reader.takes('+')) return [1, Infinity];
  if (reader.takes('?')) return [0, 1];
  if (!reader.takes('{')) return undefined;
  let inside = '';
  while (reader.next !== '}') inside += reader.take();
  reader.take();
  const [, first, comma, last] = /^(\d{1,4})(,?)(\d{0,4})$/.exec(inside) ?? [];
  if (first === undefined) throw new PatternProblem(`{${inside}} is no repetition; write {2}, {2,} or {2,5}`);
  const least = Number(first);
  const most = comma === '' ? least : last === '' ? Infinity : Number(last);
  if (least > mostRepeats || (most !== Infinity && most > mostRepeats))
    throw new PatternProblem(`{${inside}} repeats more than ${mostRepeats} times`);
  if (most < least) throw new PatternProblem(`{${inside}} ends before it begins`);
  return [least, most];
}

function atom(reader: PatternReader): Node {
  const first = reader.take();
  switch (first) {
    case '(': {
      if (reader.takes('?') && !reader.takes(':'))
        throw new PatternProblem('it looks around, or names a group; only (…) and (?:…) are known here');
      const inner = choice(reader);
      if (!reader.takes(')')) throw new PatternProblem('a "(" has no ")"');
      return inner;
    }
    case '[':
      return { type: 'unit', set: setOf(reader) };
    case '.':
      return {
        type: 'unit',
        set: {
          ranges: [
            [10, 10],
            [13, 13],
          ],
          isNegated: true,
        },
      };
    case '\\':
      return reader.takes('b') ? { type: 'boundary' } : { type: 'unit', set: escaped(reader) };
    case '^':
    case '$':
      throw new PatternProblem(
        `"${first}" is not known here: a pattern is looked for anywhere in a text. For the sign itself write \\${first}`,
      );
    case '*':
    case '+':
    case '?':
    case '{':
      throw new PatternProblem(`"${first}" has nothing before it to repeat`);
    default:
      return { type: 'unit', set: one(first) };
  }
}

function one(sign: string): UnitSet {
  const unit = sign.charCodeAt(0);
  return { ranges: [[unit, unit]], isNegated: false };
}

function escaped(reader: PatternReader): UnitSet {
  const sign = reader.take();
  const known = classes[sign.toLowerCase()];
  if (known !== undefined) return { ranges: known, isNegated: sign !== sign.toLowerCase() };
  const control = controls[sign];
  if (control !== undefined) return one(control);
  if (/[A-Za-z0-9]/.test(sign)) throw new PatternProblem(`\\${sign} is not known here`);
  return one(sign);
}

function setOf(reader: PatternReader): UnitSet {
  const isNegated = reader.takes('^');
  const ranges: (readonly [number, number])[] = [];
  for (;;) {
    const sign = reader.take();
    if (sign === ']') break;
    const set = sign === '\\' ? escaped(reader) : one(sign);
    if (set.isNegated) throw new PatternProblem('\\D, \\W and \\S are not known inside of […]');
    const [first, ...others] = set.ranges;
    const isSingle = first !== undefined && others.length === 0 && first[0] === first[1];
    // A "-" before the closing bracket means itself.
    if (!isSingle || reader.next !== '-' || reader.after === ']') {
      ranges.push(...set.ranges);
      continue;
    }
    reader.take();
    const end = reader.take();
    const last = (end === '\\' ? escaped(reader) : one(end)).ranges[0]?.[0] ?? 0;
    if (last < first[0]) throw new PatternProblem(`[${sign}-${end}] ends before it begins`);
    ranges.push([first[0], last]);
  }
  if (ranges.length === 0) throw new PatternProblem('[] takes nothing');
  return { ranges, isNegated };
}
