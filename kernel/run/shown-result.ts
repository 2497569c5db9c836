import type { Json, Message } from '../../contract/messages/messages';
import type { MiddlewareChange } from '../../contract/middleware-changes';
import { withChange } from '../../contract/middleware-changes';
import type { RunState } from './state';

/** What layers inside of a call left for its event. */
export interface ShownResult {
  readonly message?: Message;
  readonly output?: Json;
  readonly action?: Json;
  readonly changes?: readonly MiddlewareChange[];
}

/** Keeps it in the state of the run: a layer that has ended is not entered again after a continue-as-new. Of several passes the last one counts. */
export class ShownResultKeeper {
  constructor(
    private readonly state: RunState,
    private readonly address: string,
  ) {}

  get what(): ShownResult {
    return this.state.passed?.[this.address] ?? {};
  }

  keep(passed: ShownResult): void {
    this.state.passed = { ...this.state.passed, [this.address]: { ...this.what, ...passed } };
  }

  /** Notes what a layer changed. */
  changed(middleware: string, hook: string, changed: MiddlewareChange['changed']): void {
    if (changed.length > 0) this.keep({ changes: withChange(this.what.changes ?? [], { middleware, hook, changed }) });
  }

  /** Gives what was kept, which nobody needs any more. */
  take(): ShownResult {
    const { [this.address]: passed = {}, ...rest } = this.state.passed ?? {};
    if (Object.keys(rest).length > 0) this.state.passed = rest;
    else delete this.state.passed;
    return passed;
  }
}
