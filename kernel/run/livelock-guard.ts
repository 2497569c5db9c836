import { HoldfastError } from '../../contract/errors';
import { limits } from '../../contract/limits';

/** The server would repeat an endless workflow task for ever, so events without an arrival are counted. */
export class LivelockGuard {
  private count = 0;
  private heardThen = 0;

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

export function checkEmptyRun(pace: LivelockGuard, since: number, around: string): void {
  if (pace.now !== since || pace.step() < limits.emptyRuns) return;
  throw new HoldfastError(
    'agent-endless',
    `Agent "${around}" ran the last of ${limits.emptyRuns} agents in a row that ended without anything coming back to the run: no call, timer or answer.`,
  );
}
