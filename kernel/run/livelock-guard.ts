import { HoldfastError } from '../../contract/errors';
import { limits } from '../../contract/limits';

/** Counts what happens while nothing comes back to the run. A workflow task that goes on for ever would be tried again for ever. */
export class LivelockGuard {
  private count = 0;
  private heardThen = 0;

  /** `heard` is how often something has come back: a call, a timer, an answer, an isolated agent. */
  constructor(private readonly heard: () => number) {}

  get now(): number {
    return this.heard();
  }

  /** How often it has happened since something came back, this time as well. */
  step(): number {
    const heard = this.heard();
    if (heard !== this.heardThen) this.count = 0;
    this.heardThen = heard;
    return ++this.count;
  }
}

/** Refuses to go on from one agent to the next without end, where none of them does anything but talk. `since` is when this one began. */
export function checkEmptyRun(pace: LivelockGuard, since: number, around: string): void {
  if (pace.now !== since || pace.step() < limits.emptyRuns) return;
  throw new HoldfastError(
    'agent-endless',
    `Agent "${around}" ran the last of ${limits.emptyRuns} agents in a row that ended without anything coming back to the run: no call, timer or answer.`,
  );
}
