import type { RunEvent } from '../contract/events';

export type MessageFate =
  | {
      readonly turn: number;
      readonly offset: number;
      readonly begins: number;
    }
  | { readonly left: 'withdrawn' | 'ignored'; readonly code?: string; readonly time: number };

/** Reads the log backwards. Undefined: unknown message. */
export async function messageFate(pieces: AsyncIterable<readonly RunEvent[]>, id: string): Promise<MessageFate | undefined> {
  let taken: Pick<Extract<RunEvent, { type: 'message' }>, 'turn' | 'offset'> | undefined;
  for await (const piece of pieces) {
    for (const event of [...piece].reverse()) {
      if (taken !== undefined) {
        const { turn, offset } = taken;
        if (event.type === 'turn-start' && event.turn === turn) return { turn, offset, begins: event.offset };
        continue;
      }
      if (!('id' in event) || event.id !== id) continue;
      if (event.type === 'message') taken = event;
      if (event.type === 'message-withdrawn') return { left: 'withdrawn', time: event.time };
      if (event.type === 'message-ignored') return { left: 'ignored', code: event.code, time: event.time };
    }
  }
  return undefined;
}
