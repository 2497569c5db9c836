import type { Answer } from '../../../contract/interrupts';
import { answeredBefore, expired, withdrawn } from '../../../contract/interrupts';
import type { Failure } from '../../../contract/messages/messages';
import type { RunState } from '../state';

const keptAnswers = 1000;
/** A second delivery comes within seconds. */
const keptDeliveries = 200;

export class PastInterrupts {
  constructor(private readonly state: RunState) {}

  answered(id: string): void {
    this.state.answered = [...this.state.answered, id].slice(-keptAnswers);
  }

  expired(id: string): void {
    this.state.expired = [...(this.state.expired ?? []), id].slice(-keptAnswers);
  }

  withdrawn(id: string): void {
    this.state.withdrawn = [...(this.state.withdrawn ?? []), id].slice(-keptAnswers);
  }

  delivered({ delivery }: Answer): void {
    if (delivery !== undefined) this.state.delivered = [...(this.state.delivered ?? []), delivery].slice(-keptDeliveries);
  }

  wasDelivered({ delivery }: Answer): boolean {
    return delivery !== undefined && this.state.delivered?.includes(delivery) === true;
  }

  whyNotOpen(id: string, isClosed: boolean): Failure {
    const { answered, expired: late = [], withdrawn: left = [] } = this.state;
    if (late.includes(id)) return expired(id);
    if (isClosed) return { code: 'run-ended', message: 'The run was cancelled, and takes no answer any more.' };
    if (left.includes(id)) return withdrawn(id);
    return answered.includes(id)
      ? answeredBefore(id)
      : { code: 'interrupt-unknown', message: `This run waits for no interrupt "${id}".${this.pendingText()}` };
  }

  private pendingText(): string {
    const ids = this.state.interrupts.map(({ shown }) => shown.id);
    return ids.length === 0 ? ' It waits for nothing.' : ` It waits for: ${ids.join(', ')}.`;
  }
}
