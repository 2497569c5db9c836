import type { ResponseEvent, UnnumberedEvent } from './types';

/** The numbers from one event of the log to the next. */
const room = 2 ** 22;

/** Whether a stream can have sent a number. */
export function isNumberBefore(number: number, nextOffset: number): boolean {
  return number < (nextOffset + 1) * room;
}

/**
 * Numbers the events of a stream by their place in the log: one number for each event, and for each character of a delta. A text has the same numbers
 * in any pieces, and a reader that returns gets the rest of the text.
 */
export class FrameNumbers {
  private last = 0;

  /** `after`: the number of the reader's last event. */
  constructor(private readonly after = -1) {}

  /** The next events belong to this event of the log, or come before the event. */
  at(offset: number): void {
    this.last = Math.max(this.last, offset * room);
  }

  /** An event outside the log has the number of the event before, so a reader that returns misses nothing. */
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
