import type { ReadLineOptions } from 'node:readline/promises';
import { createInterface } from 'node:readline/promises';

/** Where a command writes and asks. */
export interface Terminal {
  /** Whether somebody sits there who can be asked. */
  readonly interactive: boolean;
  /** Whether somebody watches what is written as it comes. */
  readonly live: boolean;
  write(line?: string): void;
  /** A part of a line. */
  writePart(text: string): void;
  writeError(line: string): void;
  /** One line of an answer, which may begin with a text to change. */
  ask(question: string, offered?: string): Promise<Typed>;
  /** Says this if Ctrl-C ends the command from now on. Returns what forgets it. */
  ifInterrupted(line: string): () => void;
  readonly paint: Paint;
}

/** Somebody pressed Ctrl-C in place of an answer. */
export const interrupted = Symbol('interrupted');

/** What somebody typed; undefined: the input has ended, as with Ctrl-D. */
export type Typed = string | undefined | typeof interrupted;

export type Paint = Readonly<Record<'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', (text: string) => string>>;

export function processTerminal(environment: Readonly<Record<string, string | undefined>> = process.env): Terminal {
  return {
    interactive: process.stdin.isTTY === true && process.stdout.isTTY === true,
    live: process.stdout.isTTY === true,
    write: (line = '') => void process.stdout.write(`${line}\n`),
    writePart: (text) => void process.stdout.write(text),
    writeError: (line) => void process.stderr.write(`${line}\n`),
    ask,
    ifInterrupted,
    paint: painter(process.stdout.isTTY === true && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb'),
  };
}

export function painter(colored: boolean): Paint {
  const style = (code: number, end: number) => (text: string) => (colored ? `\u001b[${code}m${text}\u001b[${end}m` : text);
  return { bold: style(1, 22), dim: style(2, 22), red: style(31, 39), green: style(32, 39), yellow: style(33, 39), cyan: style(36, 39) };
}

/**
 * A text of a model or a tool, without what would steer the terminal or turn the direction of the text: neither may
 * hide from a human what is to be approved.
 */
export function printable(text: string): string {
  return text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A value on one line, shortened unless it must be seen whole. */
export function oneLine(value: unknown, longest = Infinity): string {
  const text = typeof value === 'string' ? value.replace(/\s*\n\s*/g, ' ') : (JSON.stringify(value) ?? '');
  return printable(text.length > longest ? `${text.slice(0, longest)}… (${text.length} characters)` : text);
}

async function ask(question: string, offered?: string): Promise<Typed> {
  return askAt({ input: process.stdin, output: process.stdout }, question, offered);
}

/** The signal then ends the process as it would have without this. */
function ifInterrupted(line: string): () => void {
  const say = (): void => {
    process.stderr.write(`\n${line}\n`);
    process.kill(process.pid, 'SIGINT');
  };
  process.once('SIGINT', say);
  return () => void process.off('SIGINT', say);
}

/** Asks at these streams. Later versions of Node reject a question that a key ends, and earlier ones leave it open. */
export async function askAt(streams: ReadLineOptions, question: string, offered?: string): Promise<Typed> {
  const reader = createInterface(streams);
  const left = new Promise<undefined | typeof interrupted>((resolve) => {
    reader.once('SIGINT', () => resolve(interrupted));
    reader.once('close', () => resolve(undefined));
  });
  try {
    const answered = reader.question(question).catch(() => left);
    if (offered !== undefined) reader.write(offered);
    const typed = await Promise.race([answered, left]);
    if (typeof typed !== 'string') streams.output?.write('\n');
    return typed;
  } finally {
    reader.close();
  }
}
