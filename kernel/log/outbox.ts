import type { EventBody, WireEvent } from '../../contract/events';
import { limits } from '../../contract/limits';
import type { Ledger } from './ledger';

interface WaitingEvent {
  readonly event: EventBody;
  /** Counted only for messages and data of hooks, which may be large. */
  readonly bytes: number;
}

/** A command keeps half of a payload for events. */
const mostBytes = limits.payload / 2;

export class Outbox {
  private waiting: WaitingEvent[] = [];

  constructor(private readonly ledger: Ledger) {}

  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  get isOverfull(): boolean {
    return this.waiting.length > 1 && this.countThatFit() < this.waiting.length;
  }

  add(event: EventBody, bytes = 0): void {
    this.waiting.push({ event, bytes });
  }

  take(): { readonly events?: readonly WireEvent[] } {
    if (this.isEmpty) return {};
    const count = this.countThatFit();
    const events = this.ledger.encode(this.waiting.slice(0, count).map(({ event }) => event));
    this.waiting = this.waiting.slice(count);
    return { events };
  }

  step<Made>(make: () => Made): Made {
    return this.keeping(() =>
      this.ledger.step(
        this.waiting.map(({ event }) => event),
        make,
      ),
    );
  }

  /** For a command that names every message itself, such as the result of the run. */
  end<Made>(make: () => Made): Made {
    return this.keeping(() => this.ledger.step([], make));
  }

  private countThatFit(): number {
    let bytes = 0;
    const overfull = this.waiting.findIndex((one, position) => (bytes += one.bytes) > mostBytes && position > 0);
    return overfull === -1 ? this.waiting.length : overfull;
  }

  private keeping<Made>(make: () => Made): Made {
    const { waiting } = this;
    try {
      return make();
    } catch (error) {
      this.waiting = waiting;
      throw error;
    }
  }
}
