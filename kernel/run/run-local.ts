import { defined } from '../../contract/defined';
import { agentOfPath } from '../../contract/record/agent-paths';
import { HoldfastError } from '../../contract/errors';
import { jsonSize, limits } from '../../contract/limits';
import type { Json } from '../../contract/messages/messages';
import type { RunLocalValues } from '../../contract/run-local';
import { changeBetween, changedValues } from '../../contract/run-local';
import type { CallChange, RunLocalEdit } from '../../contract/record/wire';
import type { Ports, ValuesToSend } from './ports';
import type { CallChanges, RunState } from './state';
import { takeOut } from './state';

interface SentValues {
  readonly address: string;
  readonly values: RunLocalValues;
}

const most = limits.payload / 2;

/** Owned by the state. A call gets the difference to the last values in this history; changes that calls brought back are only named. */
export class RunLocalBook {
  private readonly sent = new Map<string, SentValues>();
  private readonly applied = new Map<string, CallChange[]>();
  /** Changes in this history, without changes from before a continue-as-new. */
  private readonly here = new Set<string>();

  constructor(
    private readonly state: RunState,
    private readonly ports: Ports,
  ) {}

  of(path: readonly string[]): Record<string, Json> {
    return (this.state.runLocal[path.join('/')] ??= {});
  }

  /** Undefined: no values. `slot`: where the call's own earlier changes wait. */
  toSend(path: readonly string[], address: string, slot: string | undefined): ValuesToSend | undefined {
    const key = path.join('/');
    const own = slot === undefined ? [] : (this.state.brought?.[slot] ?? []);
    const values = own.reduce<RunLocalValues>((all, { runLocal }) => changedValues(all, runLocal), this.state.runLocal[key] ?? {});
    if (Object.keys(values).length === 0) {
      this.sent.delete(key);
      this.applied.delete(key);
      return undefined;
    }
    const before = this.sent.get(key);
    const applied = [...(this.applied.get(key) ?? [])];
    const brought = [...applied, ...own.flatMap((entry) => this.appliedOf(entry))];
    const expected = brought.reduce<RunLocalValues>((all, change) => changedValues(all, change), before?.values ?? {});
    const edit: RunLocalEdit = {
      ...(before === undefined ? {} : { base: before.address }),
      ...(brought.length === 0 ? {} : { brought: brought.map(({ id }) => id) }),
      ...changeBetween(expected, values),
    };
    const sent = (): void => {
      // A call's own changes do not count for other calls yet.
      if (own.length > 0) return;
      this.sent.set(key, { address, values: { ...values } });
      this.applied.set(
        key,
        (this.applied.get(key) ?? []).filter((entry) => !applied.includes(entry)),
      );
    };
    return { edit: checkedEdit(edit, path), sent };
  }

  take(path: readonly string[], { runLocal, events }: CallChanges, slot?: string): void {
    if (runLocal === undefined && events === undefined) return;
    if (runLocal !== undefined) this.here.add(runLocal.id);
    const brought = defined({ runLocal, events });
    if (slot === undefined) return this.apply(path, brought);
    const { state } = this;
    state.brought = { ...state.brought, [slot]: [...(state.brought?.[slot] ?? []), brought] };
  }

  settle(path: readonly string[], slot: string): void {
    for (const brought of takeOut(this.state, 'brought', slot) ?? []) this.apply(path, brought);
  }

  private apply(path: readonly string[], brought: CallChanges): void {
    const { runLocal, events = [] } = brought;
    if (runLocal !== undefined) {
      this.state.runLocal[path.join('/')] = { ...changedValues(this.of(path), runLocal) };
      const key = path.join('/');
      this.applied.set(key, [...(this.applied.get(key) ?? []), ...this.appliedOf(brought)]);
    }
    for (const { name, data } of events)
      this.ports.emit({ type: 'custom', agent: agentOfPath(path), runPath: path, name: String(name), data: (data ?? null) as Json });
  }

  private appliedOf({ runLocal }: CallChanges): readonly CallChange[] {
    return runLocal === undefined || !this.here.has(runLocal.id) ? [] : [runLocal];
  }
}

function checkedEdit(edit: RunLocalEdit, path: readonly string[]): RunLocalEdit {
  const bytes = edit.set === undefined ? 0 : jsonSize(edit.set);
  if (bytes > most)
    throw new HoldfastError(
      'payload-too-large',
      `The run-local values of agent "${agentOfPath(path)}" that go to the worker have ${bytes} bytes; at most ${most} fit.`,
    );
  return edit;
}
