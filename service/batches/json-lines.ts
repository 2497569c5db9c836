import { HoldfastError, messageOf } from '../../contract/errors';
import { limits } from '../../contract/limits';

/** A line of a file with its number, from 1. */
export type NumberedLine = { readonly line: number; readonly text: string } | { readonly line: number; readonly problem: string };

/** Escapes and white space make a line larger than its input. */
const mostOfLine = 2 * limits.runInput;

/** Splits bytes into lines, and leaves out empty lines. Keeps at most one line and one piece of the bytes in memory. */
export async function* linesOf(bytes: AsyncIterable<Uint8Array>, most = mostOfLine): AsyncGenerator<NumberedLine> {
  let line = 1;
  let parts: Buffer[] = [];
  let size = 0;
  const take = (end: Buffer): NumberedLine | undefined => {
    const whole = Buffer.concat([...parts, end]);
    const given = size + end.length > most ? { line, problem: `it has more than ${most} bytes` } : textOf(whole, line);
    parts = [];
    size = 0;
    line += 1;
    return given;
  };
  for await (const piece of received(bytes)) {
    let from = 0;
    for (let end = piece.indexOf(10); end !== -1; end = piece.indexOf(10, from)) {
      const given = take(piece.subarray(from, end));
      from = end + 1;
      if (given !== undefined) yield given;
    }
    const rest = piece.subarray(from);
    size += rest.length;
    // A line that is too large is read, and not kept.
    if (size > most) parts = [];
    else if (rest.length > 0) parts.push(rest);
  }
  const last = take(Buffer.alloc(0));
  if (last !== undefined) yield last;
}

function textOf(bytes: Buffer, line: number): NumberedLine | undefined {
  try {
    // The decoder leaves out a byte order mark.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: line > 1 }).decode(bytes).trim();
    return text === '' ? undefined : { line, text };
  } catch {
    return { line, problem: 'it is no text in UTF-8' };
  }
}

async function* received(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let count = 0;
  try {
    for await (const piece of bytes) {
      count += piece.byteLength;
      yield Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    }
  } catch (error) {
    throw new HoldfastError('request-invalid', `The lines broke off after ${count} bytes: ${messageOf(error)}.`, { cause: error });
  }
}
