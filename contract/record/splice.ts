import type { StoredMessage } from '../messages/messages';

/** A message that the history has is only an id. */
export type ListItem = string | StoredMessage;
export type Splice = readonly [at: number, remove: number, insert: readonly ListItem[]];

/** One contiguous edit covers appends, patches and trims. */
export function spliceBetween(from: readonly string[], to: readonly StoredMessage[], isKnown: (id: string) => boolean): readonly Splice[] {
  let head = 0;
  while (head < from.length && head < to.length && from[head] === to[head]?.id) head++;
  let tail = 0;
  while (tail < from.length - head && tail < to.length - head && from[from.length - 1 - tail] === to[to.length - 1 - tail]?.id) tail++;
  const removed = from.length - head - tail;
  const middle = to.slice(head, to.length - tail);
  if (removed === 0 && middle.length === 0) return [];
  if (removed > 0 && middle.length > 0) return splitEdit(from.slice(head, head + removed), middle, head, isKnown);
  return [[head, removed, middle.map((message) => (isKnown(message.id) ? message.id : message))]];
}

/** Splits an edit, so that two distant edits do not name everything between. */
function splitEdit(
  removed: readonly string[],
  middle: readonly StoredMessage[],
  start: number,
  isKnown: (id: string) => boolean,
): readonly Splice[] {
  const positions = new Map(removed.map((id, index) => [id, index]));
  const splices: Splice[] = [];
  let fromIndex = 0;
  let at = start;
  let insert: ListItem[] = [];
  const flush = (until: number): void => {
    const remove = until - fromIndex;
    if (remove > 0 || insert.length > 0) splices.push([at, remove, insert]);
    at += insert.length;
    fromIndex = until;
    insert = [];
  };
  for (const message of middle) {
    const found = positions.get(message.id);
    if (found !== undefined && found >= fromIndex) {
      flush(found);
      fromIndex = found + 1;
      at += 1;
    } else insert.push(isKnown(message.id) ? message.id : message);
  }
  flush(removed.length);
  return splices;
}

export function applySplices<Item>(list: readonly Item[], splices: readonly Splice[], itemOf: (item: ListItem) => Item): Item[] {
  const result = [...list];
  for (const [at, remove, insert] of splices) result.splice(at, remove, ...insert.map(itemOf));
  return result;
}
