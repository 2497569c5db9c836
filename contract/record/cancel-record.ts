import { authorOf } from '../author';
import { defined } from '../defined';
import type { CancelFacts } from '../cancel';
import type { EventBody, RunView } from '../events';
import type { Snapshot } from './wire';

export class CancelRecord {
  isRequested = false;
  private asked: RunView['cancelling'];
  private facts: Partial<CancelFacts> | undefined;

  get end(): Partial<CancelFacts> {
    return this.facts ?? {};
  }

  viewOf(isCancelled: boolean, isOpen: boolean): Pick<RunView, 'cancelled' | 'cancelling'> {
    return { ...(isCancelled ? defined({ cancelled: this.facts }) : {}), ...(isOpen ? defined({ cancelling: this.asked }) : {}) };
  }

  begins(snapshot: Snapshot | undefined): void {
    this.isRequested = false;
    this.facts = undefined;
    const { cancel } = (snapshot?.state ?? {}) as { readonly cancel?: NonNullable<RunView['cancelling']> };
    if (cancel === undefined) return void (this.asked = undefined);
    const { modes, recursive, reason } = cancel;
    this.asked = { modes, recursive, ...defined({ reason }), ...authorOf(cancel) };
  }

  requested(reason: string | undefined): void {
    this.isRequested = true;
    if (reason !== undefined) this.facts ??= { reason };
  }

  hear(event: EventBody): void {
    if (event.type === 'cancel-request') {
      const { modes, recursive, reason, by } = event;
      const { asked } = this;
      this.asked = {
        modes: [...new Set([...(asked?.modes ?? []), ...modes])],
        recursive: asked?.recursive === true || recursive,
        ...defined({ reason: reason ?? asked?.reason }),
        ...authorOf(by === undefined ? (asked ?? {}) : event),
      };
    }
    if (event.type === 'cancel-start') {
      const { type: _, ...facts } = event;
      this.facts = facts;
    }
  }
}
