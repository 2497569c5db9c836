import type { EventBody, WireEvent } from '../../contract/events';
import type { Ledger } from './ledger';

/** What readers are to see and no command has taken along yet. */
export class Outbox {
  private events: EventBody[] = [];
  /** Of those that are counted: what agents say, and what hooks send. */
  bytes = 0;

  constructor(private readonly ledger: Ledger) {}

  get isEmpty(): boolean {
    return this.events.length === 0;
  }

  add(event: EventBody): void {
    this.events.push(event);
  }

  /** For the command that takes them along. */
  take(): { readonly events?: readonly WireEvent[] } {
    if (this.isEmpty) return {};
    const events = this.ledger.encode(this.events);
    this.events = [];
    this.bytes = 0;
    return { events };
  }

  /** Makes a step, which takes them. After one that is refused all is as it was, and they wait for the next one. */
  step<Made>(make: () => Made): Made {
    return this.keeping(() => this.ledger.step(this.events, make));
  }

  /** The same of what names every message by itself, such as the result of the run. */
  end<Made>(make: () => Made): Made {
    return this.keeping(() => this.ledger.step([], make));
  }

  private keeping<Made>(make: () => Made): Made {
    const { events, bytes } = this;
    try {
      return make();
    } catch (error) {
      this.events = events;
      this.bytes = bytes;
      throw error;
    }
  }
}
