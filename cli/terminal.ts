import { randomUUID } from 'node:crypto';
import { createInterface, type ReadLineOptions } from 'node:readline/promises';
import { onOneLine, printable } from '../host/printable';

export interface Terminal {
  /** A person can answer. */
  readonly interactive: boolean;
  readonly live: boolean;
  /** Writes one line, without line breaks of quoted texts. */
  write(line?: string): void;
  writeText(text: string): void;
  writePart(text: string): void;
  rewrite(line: string): void;
  writeError(line: string): void;
  /** `offered`: a text to change. */
  ask(question: string, offered?: string): Promise<Typed>;
  /** Writes the line if Ctrl-C ends the command. Returns the removal. */
  ifInterrupted(line: string): () => void;
  readonly paint: Paint;
}

export const interrupted = Symbol('interrupted');

/** Undefined: the end of the input, as by Ctrl-D. */
export type Typed = string | undefined | typeof interrupted;

type Paint = Readonly<Record<'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', (text: string) => string>>;

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

export function writersTo(
  out: (text: string) => void,
  err: (text: string) => void,
): Pick<Terminal, 'write' | 'writeText' | 'writePart' | 'rewrite' | 'writeError'> {
  return {
    write: (line = '') => out(`${displayed(onOneLine(line))}\n`),
    writeText: (text) => out(`${displayed(text)}\n`),
    writePart: (text) => out(displayed(text)),
    rewrite: (line) => out(`\r${displayed(onOneLine(line))}\u001b[K`),
    writeError: (line) => err(`${displayed(onOneLine(line))}\n`),
  };
}

/** Replaces the escape character of Holdfast's styles, so that other texts cannot have styles. */
const escape = randomUUID();

function displayed(text: string): string {
  return printable(text).replaceAll(escape, '\u001b');
}

export function painter(colored: boolean): Paint {
  const style = (code: number, end: number) => (text: string) => (colored ? `${escape}[${code}m${text}${escape}[${end}m` : text);
  return { bold: style(1, 22), dim: style(2, 22), red: style(31, 39), green: style(32, 39), yellow: style(33, 39), cyan: style(36, 39) };
}

export function oneLine(value: unknown, longest = Infinity): string {
  const text = typeof value === 'string' ? onOneLine(value) : (JSON.stringify(value) ?? '');
  return printable(text.length > longest ? `${text.slice(0, longest)}… (${text.length} characters)` : text);
}

function ifInterrupted(line: string): () => void {
  const say = (): void => {
    process.stderr.write(`\n${displayed(line)}\n`);
    process.kill(process.pid, 'SIGINT');
  };
  process.once('SIGINT', say);
  return () => void process.off('SIGINT', say);
}

/** Newer versions of Node reject a question that Ctrl-C ends, and older versions never answer. */
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
