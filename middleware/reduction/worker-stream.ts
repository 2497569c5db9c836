import { messageOf } from '../../contract/plain/errors';
import { headOf, noticeOf, tailOf } from './worker-notice';

interface Pieces<Piece> {
  /** Nothing for a piece that is no text: it goes through. */
  textOf(piece: Piece): string | undefined;
  pieceOf(text: string): Piece;
}

interface Cutting {
  /** Stores the whole text and gives its path. */
  readonly save: (text: string) => Promise<string>;
  readonly maxLength: number;
  readonly readFileToolName: string;
}

/**
 * Lets a stream through as it comes until it is too long, and holds the rest back. At its end stands the notice. A failure to store is
 * told in the notice, as what was seen cannot be taken back; an error of the source comes behind what was held.
 */
export async function* cutStream<Piece>(
  source: AsyncIterable<Piece>,
  { textOf, pieceOf }: Pieces<Piece>,
  { save, maxLength, readFileToolName }: Cutting,
): AsyncGenerator<Piece> {
  let shown = '';
  let held: string | undefined;
  let bytes = 0;
  try {
    for await (const piece of source) {
      const text = textOf(piece);
      if (text === undefined) {
        yield piece;
        continue;
      }
      bytes += Buffer.byteLength(text);
      if (held === undefined && bytes < maxLength) {
        shown += text;
        yield piece;
      } else held = (held ?? '') + text;
    }
  } catch (error) {
    if (held !== undefined) yield pieceOf(held);
    throw error;
  }
  if (held === undefined) return;
  if (bytes <= maxLength) {
    yield pieceOf(held);
    return;
  }
  const whole = shown + held;
  const half = Math.floor(maxLength / 2);
  const saved = await save(whole).then(
    (path) => ({ path }),
    (error: unknown) => ({ problem: messageOf(error) }),
  );
  const rest = headOf(held, half - Buffer.byteLength(shown));
  const tail = tailOf(held.slice(rest.length), half);
  const notice = noticeOf({ bytes, saved, previews: [`Preview (last ${Buffer.byteLength(tail)}):`, tail], readFileToolName });
  yield pieceOf(`${rest}\n${notice}`);
}
