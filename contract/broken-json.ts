import { wellFormed } from './errors';

const prototypeKey = '__proto__';
const deepest = 500;
/** How much of a text is quoted before the place where it breaks. */
const quoted = 30;

/** Whether a value has a key, at any depth, that objects lose when they are copied, or that becomes the prototype of one. */
export function hasPrototypeKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, prototypeKey) || Object.values(value).some(hasPrototypeKey);
}

/** Why a text is not JSON that can be kept, in words that do not depend on who reads it. Nothing when it is. */
export function jsonProblem(text: string): string | undefined {
  const scan = new JsonScan(text);
  try {
    scan.all();
  } catch (error) {
    if (error instanceof Misfit) return placed(text, error);
    throw error;
  }
  return scan.protos ? `it has the key "${prototypeKey}", which no object here can keep` : undefined;
}

class Misfit {
  constructor(
    readonly at: number,
    readonly problem: string,
  ) {}
}

function placed(text: string, { at, problem }: Misfit): string {
  const before = wellFormed(text.slice(Math.max(0, at - quoted), at).replace(/\s+/g, ' '));
  return `at character ${at + 1}${before === '' ? '' : `, after ${before}`}: ${problem}`;
}

const literals = ['true', 'false', 'null'];
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const space = /[ \t\r\n]*/y;

/** Reads a text as JSON, for the first place that is none. */
class JsonScan {
  protos = false;
  private at = 0;

  constructor(private readonly text: string) {}

  all(): void {
    this.value(0);
    this.space();
    if (this.at < this.text.length) throw this.misfit('something follows the value');
  }

  private value(depth: number): void {
    if (depth > deepest) throw this.misfit(`it is nested deeper than ${deepest} levels`);
    this.space();
    const first = this.text[this.at];
    if (first === '{') return this.members('}', () => this.member(depth));
    if (first === '[') return this.members(']', () => this.value(depth + 1));
    if (first === '"') return void this.string();
    const literal = literals.find((word) => this.text.startsWith(word, this.at));
    if (literal !== undefined) this.at += literal.length;
    else if (this.take(number) === '') throw this.misfit('a value is expected');
  }

  private members(end: string, one: () => void): void {
    this.at += 1;
    this.space();
    if (this.text[this.at] === end) {
      this.at += 1;
      return;
    }
    for (;;) {
      one();
      this.space();
      const next = this.text[this.at];
      if (next !== ',' && next !== end) throw this.misfit(`, or ${end} is expected`);
      this.at += 1;
      if (next === end) return;
    }
  }

  private member(depth: number): void {
    this.space();
    if (this.text[this.at] !== '"') throw this.misfit('a key in quotes is expected');
    if (this.string() === prototypeKey) this.protos = true;
    this.space();
    if (this.text[this.at] !== ':') throw this.misfit(': is expected');
    this.at += 1;
    this.value(depth + 1);
  }

  private string(): string {
    const start = this.at;
    for (this.at += 1; this.at < this.text.length; this.at++) {
      const unit = this.text[this.at] as string;
      if (unit === '"') {
        this.at += 1;
        return JSON.parse(this.text.slice(start, this.at)) as string;
      }
      if (unit < ' ') throw this.misfit('a line break or another control character stands in a text; write it as \\n or \\u…');
      if (unit !== '\\') continue;
      if (!/^(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.test(this.text.slice(this.at + 1, this.at + 6)))
        throw this.misfit('a \\ in a text begins no escape that JSON has');
      this.at += 1;
    }
    throw this.misfit('a text in quotes is not closed');
  }

  private space(): void {
    this.take(space);
  }

  private take(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0] ?? '';
    this.at += found.length;
    return found;
  }

  private misfit(problem: string): Misfit {
    return new Misfit(this.at, this.at >= this.text.length ? `the text ends, and ${problem}` : problem);
  }
}
