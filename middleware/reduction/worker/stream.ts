import { messageOf } from '../../../contract/errors';

interface StreamPieces<Piece> {
  textOf(piece: Piece): string | undefined;
  pieceOf(text: string): Piece;
}

export interface Cutting {
  readonly save: (text: string) => Promise<string>;
  readonly maxLength: number;
  readonly readFileToolName: string;
}

/**
 * Passes pieces up to the bound, holds the rest, and ends with a notice even if storing failed, as readers have seen the beginning.
 */
export async function* cutStream<Piece>(
  source: AsyncIterable<Piece>,
  pieces: StreamPieces<Piece>,
  { save, maxLength, readFileToolName }: Cutting,
): AsyncGenerator<Piece> {
  const { textOf, pieceOf } = pieces;
  let shown = '';
  let held: Piece[] | undefined;
  let bytes = 0;
  try {
    for await (const piece of source) {
      const text = textOf(piece);
      if (text !== undefined) bytes += Buffer.byteLength(text);
      if (held === undefined && bytes < maxLength) {
        shown += text ?? '';
        yield piece;
      } else (held ??= []).push(piece);
    }
  } catch (error) {
    if (held !== undefined) yield* held;
    throw error;
  }
  if (held === undefined) return;
  if (bytes <= maxLength) {
    yield* held;
    return;
  }
  const whole = shown + held.map((piece) => textOf(piece) ?? '').join('');
  const saved = await save(whole).then(
    (path) => ({ path }),
    (error: unknown) => ({ problem: messageOf(error) }),
  );
  const rest = restOf(held, maxLength - Buffer.byteLength(shown), pieces);
  yield* rest.before;
  const streamed = Buffer.byteLength(shown) + rest.bytes;
  const notice = noticeOf({
    bytes,
    saved,
    said: [`The first ${streamed} bytes of it were streamed before this notice.`],
    readFileToolName,
  });
  yield pieceOf(rest.text === undefined ? notice : `${rest.text}\n${notice}`);
}

function restOf<Piece>(
  held: readonly Piece[],
  room: number,
  { textOf, pieceOf }: StreamPieces<Piece>,
): { readonly before: readonly Piece[]; readonly text: string | undefined; readonly bytes: number } {
  const before: Piece[] = [];
  let last: string | undefined = '';
  let bytes = 0;
  let isCut = false;
  for (const piece of held) {
    const text = textOf(piece);
    if (text === undefined) {
      if (last !== undefined && last !== '') before.push(pieceOf(last));
      before.push(piece);
      last = undefined;
      continue;
    }
    const head: string = isCut ? '' : headOf(text, room - bytes);
    isCut ||= head.length < text.length;
    bytes += Buffer.byteLength(head);
    if (head !== '') last = (last ?? '') + head;
  }
  return { before, text: last, bytes };
}

interface Notice {
  readonly bytes: number;
  readonly saved: { readonly path: string } | { readonly problem: string };
  readonly said: readonly string[];
  readonly readFileToolName: string;
}

export function noticeOf({ bytes, saved, said, readFileToolName }: Notice): string {
  const where = 'path' in saved ? `Full output saved to: ${saved.path}` : `Failed to save full output: ${saved.problem}.`;
  return [
    '<persisted-output>',
    `Output too large (${bytes}). ${where}`,
    ...said,
    ...('path' in saved ? [`Use ${readFileToolName} to view the rest.`] : []),
    '</persisted-output>',
  ].join('\n');
}

export function previewsOf(text: string, bytesEach: number): readonly string[] {
  if (Buffer.byteLength(text) <= 2 * bytesEach) return [text];
  const head = headOf(text, bytesEach);
  const tail = tailOf(text, bytesEach);
  return [`Preview (first ${Buffer.byteLength(head)}):`, head, `Preview (last ${Buffer.byteLength(tail)}):`, tail];
}

export function headOf(text: string, mostBytes: number): string {
  const bytes = Buffer.from(text).subarray(0, Math.max(0, mostBytes));
  // With `stream` a decoder holds back a cut character.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });
}

export function tailOf(text: string, mostBytes: number): string {
  const bytes = Buffer.from(text);
  let begin = Math.max(0, bytes.length - Math.max(0, mostBytes));
  while (isInside(bytes[begin])) begin += 1;
  return bytes.toString('utf8', begin);
}

function isInside(byte = 0): boolean {
  return (byte & 0xc0) === 0x80;
}
