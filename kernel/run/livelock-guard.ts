import { HoldfastError } from '../../contract/errors';
import { limits } from '../../contract/limits';

/** Counts events while nothing comes back to the run. A workflow task that never ends would be repeated for ever. */
export class LivelockGuard {
  private count = 0;
  private heardThen = 0;

  /** `heard`: how often something came back: a call, a timer, an answer, an isolated agent. */
  constructor(private readonly heard: () => number) {}

  get now(): number {
    return this.heard();
  }

  step(): number {
    const heard = this.heard();
    if (heard !== this.heardThen) this.count = 0;
    this.heardThen = heard;
    return ++this.count;
  }
}

/** Refuses an endless chain of agents that only talk. `since`: the count at the beginning of this agent. */
export function checkEmptyRun(pace: LivelockGuard, since: number, around: string): void {
  if (pace.now !== since || pace.step() < limits.emptyRuns) return;
  throw new HoldfastError(
    'agent-endless',
    `Agent "${around}" ran the last of ${limits.emptyRuns} agents in a row that ended without anything coming back to the run: no call, timer or answer.`,
  );
}
