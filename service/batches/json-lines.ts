import { HoldfastError, messageOf } from '../../contract/errors';
import { limits } from '../../contract/limits';

/** A line of a file with its number, from 1. */
export type NumberedLine = { readonly line: number; readonly text: string } | { readonly line: number; readonly problem: string };

/** Escapes and white space make a line larger than its input. */
const mostOfLine = 2 * limits.runInput;

/** Leaves out empty lines. Keeps at most one line and one piece in memory. */
export async function* linesOf(bytes: AsyncIterable<Uint8Array>, most = mostOfLine): AsyncGenerator<NumberedLine> {
  let line = 1;
  let parts: Buffer[] = [];
  let size = 0;
  const take = (): readonly NumberedLine[] => {
    const given = size > most ? { line, problem: `it has more than ${most} bytes` } : textOf(Buffer.concat(parts), line);
    parts = [];
    size = 0;
    line += 1;
    return given === undefined ? [] : [given];
  };
  for await (const piece of received(bytes)) {
    for (let from = 0, end = 0; end !== -1; from = end + 1) {
      end = piece.indexOf(10, from);
      const part = piece.subarray(from, end === -1 ? undefined : end);
      size += part.length;
      if (size > most) parts = [];
      else parts.push(part);
      if (end !== -1) yield* take();
    }
  }
  yield* take();
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
