import type { Answer, Interrupt } from '../../contract/interrupts';
import { jsonSize, limits } from '../../contract/limits';
import type { Ports } from './ports';
import type { RunState } from './state';

/** An isolated agent, for what becomes of its questions. */
export interface AskedApart {
  answer(answer: Answer): void;
  /** It ends, and its questions with it. */
  stop(): void;
}

/** An interrupt that nobody was shown yet. */
interface Later {
  readonly shown: Interrupt;
  show(): void;
  refuse(error: unknown): void;
  readonly apart?: AskedApart;
}

/** Interrupts that there is no room for beside those that are open, first asked first. */
export class InterruptLine {
  private readonly later = new Map<string, Later>();
  /** The task is full: what is asked is shown in the next one. */
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

  /** Takes one out of the line, when it is there. */
  remove(id: string): Later | undefined {
    const one = this.later.get(id);
    this.later.delete(id);
    return one;
  }

  /** Takes all out of the line, or those that are meant. */
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

  /** What is open stands in the memo of the run, which has its bounds, as a task of it has. */
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
    // A run that is cancelled shows nothing any more.
    room.then(next, () => undefined);
    return false;
  }
}
