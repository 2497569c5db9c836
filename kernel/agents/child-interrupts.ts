import { authorWithRoles } from '../../contract/author';
import { isStrings } from '../../contract/check';
import type { Answer, Interrupt } from '../../contract/interrupts';
import { interruptIdAt, isInterrupt } from '../../contract/interrupts';
import { jsonSize, limits } from '../../contract/limits';
import type { Json } from '../../contract/messages/messages';
import { notJson } from '../../contract/messages/messages';
import type { RunScope } from '../run/scope';

export class ChildInterrupts {
  /** Ids in this run, by the ids in the run of the agent. */
  private readonly open = new Map<string, string>();
  private readonly known = new Set<string>();
  private closed = false;
  private stopped = false;

  constructor(
    private readonly run: RunScope,
    private readonly childId: string,
    private readonly path: readonly string[],
  ) {}

  /** Any client of the server can send news, so invalid news is skipped. The news of the end may repeat earlier news. */
  hear(events: readonly unknown[], withEnd = false): void {
    if (this.closed) return;
    for (const event of events) {
      const { type, interrupt, interruptId: id, answer, reason, by, roles, proof, at } = (event ?? {}) as Readonly<Record<string, unknown>>;
      if (
        type === 'interrupt-start' &&
        isInterrupt(interrupt) &&
        !(withEnd && this.known.has(interrupt.id)) &&
        notJson(interrupt) === undefined &&
        jsonSize(interrupt) <= limits.interrupt
      )
        this.show(interrupt);
      if (type === 'interrupt-end' && typeof id === 'string' && answer !== undefined && notJson(answer) === undefined) {
        const why = reason === 'answer' || reason === 'deadline' ? reason : 'cancel';
        this.withdraw(id, {
          answer: answer as Json,
          reason: why,
          ...authorWithRoles({ by, roles, proof }),
        });
      }
      if (type === 'interrupt-remind' && typeof id === 'string' && typeof at === 'number') this.tellStep({ type, interruptId: id, at });
      if (type === 'interrupt-escalate' && typeof id === 'string' && typeof at === 'number')
        this.tellStep({
          ...{ type, interruptId: id, at },
          ...(isStrings(by) ? { by } : {}),
          ...(isStrings(roles) ? { roles } : {}),
        });
    }
  }

  close(): void {
    this.closed = true;
    for (const id of [...this.open.keys()]) this.withdraw(id, { answer: null, reason: 'cancel' });
  }

  private show(interrupt: Interrupt): void {
    const { run, childId, path } = this;
    this.known.add(interrupt.id);
    const id = interruptIdAt(path, interrupt);
    this.open.set(interrupt.id, id);
    const shown = { ...interrupt, id, address: [...path, ...interrupt.address.slice(1)] };
    run.interrupts.show(shown, {
      answer: (answer: Answer) => run.ports.answerChild(childId, { ...answer, interruptId: interrupt.id, handedOn: true }),
      stop: () => this.stop(),
    });
  }

  private stop(): void {
    if (this.stopped) return;
    this.stopped = true;
    this.run.ports.cancelChildren({ modes: ['now'], recursive: true, reason: 'The turn was stopped.' }, this.childId);
  }

  private tellStep(event: Parameters<RunScope['interrupts']['tellStep']>[0]): void {
    const here = this.open.get(event.interruptId);
    if (here !== undefined) this.run.interrupts.tellStep({ ...event, interruptId: here });
  }

  private withdraw(id: string, end: Parameters<RunScope['interrupts']['withdraw']>[1]): void {
    const here = this.open.get(id);
    if (here === undefined) return;
    this.open.delete(id);
    this.run.interrupts.withdraw(here, end);
  }
}
