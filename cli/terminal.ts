import { randomUUID } from 'node:crypto';
import type { ReadLineOptions } from 'node:readline/promises';
import { createInterface } from 'node:readline/promises';
import { onOneLine, printable } from '../host/printable';

/** Where a command writes and asks. */
export interface Terminal {
  /** Whether somebody sits there who can be asked. */
  readonly interactive: boolean;
  /** Whether somebody watches what is written as it comes. */
  readonly live: boolean;
  /** One line, whatever the texts of others in it have. */
  write(line?: string): void;
  /** A text with its lines, such as what a model says. */
  writeText(text: string): void;
  /** A part of such a text. */
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
    ...writersTo(
      (text) => void process.stdout.write(text),
      (text) => void process.stderr.write(text),
    ),
    ask: (question, offered) => askAt({ input: process.stdin, output: process.stdout }, question, offered),
    ifInterrupted,
    paint: painter(process.stdout.isTTY === true && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb'),
  };
}

/** All that a command writes goes through these. */
export function writersTo(
  out: (text: string) => void,
  err: (text: string) => void,
): Pick<Terminal, 'write' | 'writeText' | 'writePart' | 'writeError'> {
  return {
    write: (line = '') => out(`${displayed(onOneLine(line))}\n`),
    writeText: (text) => out(`${displayed(text)}\n`),
    writePart: (text) => out(displayed(text)),
    writeError: (line) => err(`${displayed(onOneLine(line))}\n`),
  };
}

/** Stands for the escape character of our own styles. Nobody else knows it, so that a style of others stays text. */
const escape = randomUUID();

function displayed(text: string): string {
  return printable(text).replaceAll(escape, '\u001b');
}

/** For what is written by a terminal. */
export function painter(colored: boolean): Paint {
  const style = (code: number, end: number) => (text: string) => (colored ? `${escape}[${code}m${text}${escape}[${end}m` : text);
  return { bold: style(1, 22), dim: style(2, 22), red: style(31, 39), green: style(32, 39), yellow: style(33, 39), cyan: style(36, 39) };
}

/** A value on one line, shortened unless it must be seen whole, and as wide as it is written. */
export function oneLine(value: unknown, longest = Infinity): string {
  const text = typeof value === 'string' ? onOneLine(value) : (JSON.stringify(value) ?? '');
  return printable(text.length > longest ? `${text.slice(0, longest)}… (${text.length} characters)` : text);
}

/** The signal then ends the process as it would have without this. */
function ifInterrupted(line: string): () => void {
  const say = (): void => {
    process.stderr.write(`\n${displayed(line)}\n`);
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
    const answered = reader.question(displayed(question)).catch(() => left);
    if (offered !== undefined) reader.write(displayed(offered));
    const typed = await Promise.race([answered, left]);
    if (typeof typed !== 'string') streams.output?.write('\n');
    return typed;
  } finally {
    reader.close();
  }
}
