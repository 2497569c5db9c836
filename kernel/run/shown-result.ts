import type { MiddlewareChange } from '../../contract/middleware-changes';
import { withChange } from '../../contract/middleware-changes';
import type { RunState, ShownResult } from './state';
import { takeOut } from './state';

/** In the state, because an ended layer is not entered again after a continue-as-new. The last pass counts. */
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

  changed(middleware: string, hook: string, changed: MiddlewareChange['changed']): void {
    if (changed.length > 0) this.keep({ changes: withChange(this.what.changes ?? [], { middleware, hook, changed }) });
  }

  take(): ShownResult {
    return takeOut(this.state, 'passed', this.address) ?? {};
  }
}
