import type { Answer, Interrupt } from '../../../contract/interrupts';
import { jsonSize, limits } from '../../../contract/limits';
import type { Ports } from '../ports';
import type { RunState } from '../state';

export interface AskedApart {
  answer(answer: Answer): void;
  stop(): void;
}

interface Later {
  readonly shown: Interrupt;
  show(): void;
  refuse(error: unknown): void;
  readonly apart?: AskedApart;
}

/** First asked, first shown. */
export class InterruptLine {
  private readonly later = new Map<string, Later>();
  private awaitsRoom = false;

  constructor(
    private readonly state: RunState,
    private readonly ports: Ports,
  ) {}

  get size(): number {
    return this.later.size;
  }

  add(one: Later): void {
    this.later.set(one.shown.id, one);
  }

  remove(id: string): Later | undefined {
    const one = this.later.get(id);
    this.later.delete(id);
    return one;
  }

  removeAll(isMeant: (shown: Interrupt) => boolean = () => true): readonly Later[] {
    const removed = [...this.later.values()].filter(({ shown }) => isMeant(shown));
    for (const { shown } of removed) this.later.delete(shown.id);
    return removed;
  }

  showNext(): void {
    for (const [id, { shown, show }] of this.later) {
      if (!this.hasRoom(shown)) return;
      this.later.delete(id);
      show();
    }
  }

  /** The memo limits open interrupts, and a task limits commands. */
  hasRoom(shown: Interrupt): boolean {
    const { interrupts } = this.state;
    const bytes = interrupts.reduce((sum, { shown: open }) => sum + jsonSize(open), jsonSize(shown));
    if (interrupts.length >= limits.openInterrupts || bytes > limits.interruptsTogether) return false;
    if (this.awaitsRoom) return false;
    const room = this.ports.roomToShow(shown);
    if (room === undefined) return true;
    this.awaitsRoom = true;
    const next = (): void => {
      this.awaitsRoom = false;
      this.showNext();
    };
    room.then(next, () => undefined);
    return false;
  }
}
