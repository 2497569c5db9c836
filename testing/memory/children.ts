import type { CancelRequest } from '../../contract/cancel';
import type { Answer } from '../../contract/interrupts';
import { checkedBytes } from '../../kernel/run/call-inputs';
import type { ChildEnd, ChildRun } from '../../kernel/run/ports';
import { asJson } from './record';

export interface MemoryChild {
  readonly end: Promise<ChildEnd>;
  readonly standsStill: boolean;
  answer(answer: Answer): void;
  cancel(request?: CancelRequest): Promise<void>;
}

export class MemoryChildren<Child extends MemoryChild = MemoryChild> {
  private readonly open = new Map<string, Child>();

  get size(): number {
    return this.open.size;
  }

  get all(): readonly Child[] {
    return [...this.open.values()];
  }

  get standStill(): boolean {
    return this.all.every(({ standsStill }) => standsStill);
  }

  async run({ place, start, hear, resumes }: ChildRun, begin: (child: ChildRun) => Child): Promise<ChildEnd> {
    checkedBytes(start, `the start of the agent "${start.agent}"`);
    const told = (events: readonly unknown[]): void => void (this.open.has(start.id) && hear(asJson(events)));
    const child = begin({ place, start: asJson(start), hear: told, ...(resumes === true ? { resumes } : {}) });
    this.open.set(start.id, child);
    try {
      return asJson(await child.end);
    } finally {
      this.open.delete(start.id);
    }
  }

  answer(run: string, answer: Answer): void {
    this.open.get(run)?.answer(answer);
  }

  cancel(): void {
    for (const child of this.all) void child.cancel();
  }

  ask(request: CancelRequest, run?: string): void {
    for (const [id, child] of this.open) if (run === undefined || run === id) void child.cancel(request);
  }
}
