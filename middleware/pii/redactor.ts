import { HoldfastError } from '../../contract/plain/errors';
import type { Json, Message, Part } from '../../contract/plain/messages';
import { sha256 } from '../../contract/plain/sha256';
import type { Detector } from './detectors';
import { detectors } from './detectors';
import { Pattern } from './pattern-search';
import type { Rule } from './rules';
import type { Found } from './spans';
import { withoutOverlap } from './spans';

interface Looked {
  readonly found: readonly Found<Rule>[];
  readonly held: number;
}

/** Finds what the rules name in texts, and puts something else in its place. */
export class Redactor {
  private readonly searches: readonly ((text: string, before: string, isWhole: boolean) => Looked)[];

  constructor(
    rules: readonly Rule[],
    /** Where the texts come from, for the error of `block`. */
    private readonly source: string,
  ) {
    this.searches = rules.map((rule) => {
      const search = searchFor(rule);
      return (text, before, isWhole) => {
        const { spans, held } = search(text, before, isWhole);
        return { found: spans.map((span) => ({ ...span, rule })), held };
      };
    });
  }

  /** The text itself when nothing is found. */
  text(text: string): string {
    return this.part(text, '', true).text;
  }

  /** What is decided of a text that may go on, and from where on it is not. */
  part(text: string, before: string, isWhole: boolean): { readonly text: string; readonly end: number } {
    const looked = this.searches.map((search) => search(text, before, isWhole));
    const found = withoutOverlap(looked.flatMap((one) => one.found));
    let end = looked.reduce((least, { held }) => Math.min(least, held), text.length);
    // What was found and goes on behind the end is held as well.
    for (const span of found) if (span.start < end && span.end > end) end = span.start;
    let out = '';
    let position = 0;
    for (const span of found) {
      if (span.end > end) break;
      out += text.slice(position, span.start) + this.instead(text.slice(span.start, span.end), span.rule);
      position = span.end;
    }
    return { text: position === 0 && end === text.length ? text : out + text.slice(position, end), end };
  }

  /** A copy in which all texts are redacted, at any depth; the value itself when nothing is found. Keys stay as they are. */
  json<Value extends Json | undefined>(value: Value): Value {
    return this.changed(value) as Value;
  }

  message(message: Message, which: (part: Part) => boolean): Message {
    const parts = message.parts.map((part) => (which(part) ? this.messagePart(part) : part));
    return parts.every((part, position) => part === message.parts[position]) ? message : { ...message, parts };
  }

  private messagePart(part: Part): Part {
    switch (part.type) {
      case 'text':
      case 'reasoning': {
        const text = this.text(part.text);
        // What a provider has signed is no longer what it said.
        return text === part.text ? part : { type: part.type, text };
      }
      case 'tool-result': {
        const output = this.json(part.output);
        return output === part.output ? part : { ...part, output };
      }
      case 'tool-call': {
        const input = this.json(part.input);
        return input === part.input ? part : { ...part, input };
      }
      default:
        return part;
    }
  }

  private changed(value: Json | undefined): Json | undefined {
    if (typeof value === 'string') return this.text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const before: readonly Json[] = value;
      const after = before.map((item) => this.changed(item) as Json);
      return after.every((item, position) => item === before[position]) ? before : after;
    }
    const before = Object.entries(value as { readonly [key: string]: Json | undefined });
    const after = before.map(([key, item]) => [key, this.changed(item)] as const);
    return after.every(([, item], position) => item === before[position]?.[1]) ? value : Object.fromEntries(after);
  }

  private instead(value: string, { what, kind, strategy }: Rule): string {
    switch (strategy) {
      case 'block':
        throw new HoldfastError('pii-found', `There is data of the kind "${what}" in ${this.source}, which the agent does not let pass.`);
      case 'redact':
        return `[${what} removed]`;
      case 'hash':
        return `[${what} ${sha256(value).slice(0, 12)}]`;
      case 'mask':
        return masked(value, kind);
    }
  }
}

type Search = (text: string, before: string, isWhole: boolean) => ReturnType<Pattern['search']>;

function searchFor({ kind, pattern = '', ignoreCase }: Rule): Search {
  if (kind === 'custom') {
    const own = new Pattern(pattern, ignoreCase === true);
    return (text, before, isWhole) => own.search(text, before, isWhole);
  }
  const detector: Detector = detectors[kind];
  return (text, before, isWhole) => ({ spans: detector.find(text, before), held: isWhole ? text.length : detector.held(text) });
}

function masked(value: string, kind: Rule['kind']): string {
  switch (kind) {
    case 'email':
      return `${value[0] ?? ''}***@***${value.slice(value.lastIndexOf('.'))}`;
    case 'creditCard':
      return `****-****-****-${value.replace(/[^0-9]/g, '').slice(-4)}`;
    case 'ip':
      return value.includes(':') ? '****:****' : `***.***.***.${value.slice(value.lastIndexOf('.') + 1)}`;
    case 'url':
      return value.includes('://') ? `${value.slice(0, value.indexOf('://'))}://***` : 'www.***';
    case 'custom':
      return value.length > 8 ? `****${value.slice(-4)}` : '****';
  }
}

const longHold = 256;

/** A text that comes in pieces: what may still become part of a match is held back. */
export class RedactedStream {
  private held = '';
  private before = '';
  private nextLook = 0;

  constructor(private readonly redactor: Redactor) {}

  /** What may be seen now that this has come. */
  push(piece: string): string {
    this.held += piece;
    // A long hold is looked at again only when it has doubled: however small the pieces are, all looks together are a few passes.
    return this.held.length < this.nextLook ? '' : this.take(false);
  }

  /** The rest. */
  end(): string {
    return this.take(true);
  }

  private take(isWhole: boolean): string {
    const { text, end } = this.redactor.part(this.held, this.before, isWhole);
    if (end > 0) this.before = this.held[end - 1] ?? '';
    this.held = this.held.slice(end);
    this.nextLook = this.held.length > longHold ? this.held.length * 2 : 0;
    return text;
  }
}
