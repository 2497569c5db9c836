import { authorWithRoles } from '../../../contract/author';
import type { Answer } from '../../../contract/interrupts';
import type { Ports } from '../ports';
import type { EarlyAnswer, RunState } from '../state';

export class EarlyAnswers {
  private readonly asking = new Map<string, (answer: EarlyAnswer) => void>();

  constructor(
    private readonly state: RunState,
    private readonly ports: Ports,
  ) {}

  keep(given: Answer): void {
    const { interruptId, answer } = given;
    this.state.early = { ...this.state.early, [interruptId]: { answer, ...authorWithRoles(given) } };
  }

  /** Settles in the order of arrival, because re-entered code may ask in another order. Undefined: no answer. */
  ask(id: string): Promise<EarlyAnswer> | undefined {
    if (this.state.early?.[id] === undefined) return undefined;
    return new Promise((resolve) => {
      this.asking.set(id, resolve);
      this.ports.atRest(() => this.handOutFirst());
    });
  }

  private handOutFirst(): void {
    for (const [id, answer] of Object.entries(this.state.early ?? {})) {
      const hand = this.asking.get(id);
      if (hand === undefined) continue;
      this.asking.delete(id);
      this.remove(id);
      return hand(answer);
    }
  }

  remove(id: string): void {
    const { [id]: _, ...others } = this.state.early ?? {};
    this.state.early = others;
  }
}
