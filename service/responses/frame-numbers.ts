import type { ResponseEvent, UnnumberedEvent } from './types';

/** How many numbers there are from one event of the log to the next. */
const room = 2 ** 22;

/** Whether a number can be of a stream: nobody has one of an event that the log has not come to. */
export function isNumberBefore(number: number, nextOffset: number): boolean {
  return number < (nextOffset + 1) * room;
}

/**
 * Numbers the events of a stream by their place in the log: one for each event, and one for each character of a delta. So a text has the same
 * numbers in however many pieces it comes, and a reader that comes back gets the rest of it.
 */
export class FrameNumbers {
  private last = 0;

  /** `after`: what the reader has. */
  constructor(private readonly after = -1) {}

  /** What follows belongs to this event of the log, or is said before it. */
  at(offset: number): void {
    this.last = Math.max(this.last, offset * room);
  }

  /** An event that the log does not have takes the number of the one before: whoever comes back after it misses nothing. */
  beside(event: UnnumberedEvent): ResponseEvent {
    return { ...event, sequence_number: Math.max(this.last, this.after) };
  }

  /** Undefined: the reader has it already. */
  number(event: UnnumberedEvent): ResponseEvent | undefined {
    const size = 'delta' in event ? Math.max(event.delta.length, 1) : 1;
    this.last += size;
    const left = this.last - this.after;
    if (left <= 0) return undefined;
    const rest = 'delta' in event && left < size ? { ...event, delta: event.delta.slice(-left) } : event;
    return { ...rest, sequence_number: this.last };
  }
}
