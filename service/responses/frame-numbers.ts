import type { ResponseEvent, UnnumberedEvent } from './types';

/** The numbers from one event of the log to the next. */
const room = 2 ** 22;

export function isNumberBefore(number: number, nextOffset: number): boolean {
  return number < (nextOffset + 1) * room;
}

/**
 * One number for each event and each character of a delta: a text has the same numbers in any pieces, and a reader that returns gets the
 * rest.
 */
export class FrameNumbers {
  private last = 0;

  constructor(private readonly after = -1) {}

  /** The next events belong to the log's event at `offset`, or come before. */
  at(offset: number): void {
    this.last = Math.max(this.last, offset * room);
  }

  /** Repeats the last number outside the log, so a reader that returns misses nothing. */
  beside(event: UnnumberedEvent): ResponseEvent {
    return { ...event, sequence_number: Math.max(this.last, this.after) };
  }

  /** Undefined: the reader has the event. */
  number(event: UnnumberedEvent): ResponseEvent | undefined {
    const size = 'delta' in event ? Math.max(event.delta.length, 1) : 1;
    this.last += size;
    const left = this.last - this.after;
    if (left <= 0) return undefined;
    const rest = 'delta' in event && left < size ? { ...event, delta: event.delta.slice(-left) } : event;
    return { ...rest, sequence_number: this.last };
  }
}
