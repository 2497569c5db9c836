import type { Json, Message } from '../../contract/messages/messages';
import type { RunState } from './state';

/** What layers inside of a call left for its event. */
export interface Passed {
  readonly message?: Message;
  readonly output?: Json;
  readonly action?: Json;
}

/** Keeps it in the state of the run: a layer that has ended is not entered again after a border. Of several passes the last one counts. */
export class PassedThere {
  constructor(
    private readonly state: RunState,
    private readonly address: string,
  ) {}

  get what(): Passed {
    return this.state.passed?.[this.address] ?? {};
  }

  keep(passed: Passed): void {
    this.state.passed = { ...this.state.passed, [this.address]: { ...this.what, ...passed } };
  }

  /** Gives what was kept, which nobody needs any more. */
  take(): Passed {
    const { [this.address]: passed = {}, ...rest } = this.state.passed ?? {};
    if (Object.keys(rest).length > 0) this.state.passed = rest;
    else delete this.state.passed;
    return passed;
  }
}
