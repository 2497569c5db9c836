import type { HoldfastError } from '../../contract/errors';
import { errorTable } from '../../contract/errors';
import type { ServiceProblem } from '../../contract/service-facts';

/** So many are remembered, those that were said last. */
const mostRemembered = 20;

/** Hands problems on, and remembers them: whoever looks at the service has not seen its log. */
export class ProblemMemory {
  private readonly said = new Map<string, ServiceProblem>();

  constructor(
    private readonly tell: (problem: HoldfastError) => void,
    private readonly now: () => number = Date.now,
  ) {}

  readonly take = (problem: HoldfastError): void => {
    const { code, message } = problem;
    const key = `${code} ${message}`;
    this.said.delete(key);
    this.said.set(key, { code, message, fix: errorTable[code].fix, at: new Date(this.now()).toISOString() });
    for (const [oldest] of this.said) if (this.said.size > mostRemembered) this.said.delete(oldest);
    this.tell(problem);
  };

  /** Newest first. */
  list(): readonly ServiceProblem[] {
    return [...this.said.values()].reverse();
  }
}
