import type { HistoryFact } from './record/history-fact';
import type { Json } from './messages/messages';
import type { CallChange, RunLocalChange, RunLocalEdit } from './record/wire';

export type RunLocalValues = Readonly<Record<string, Json>>;

export function changedValues(values: RunLocalValues, change: RunLocalChange | undefined): RunLocalValues {
  if (change === undefined) return values;
  const changed: Record<string, Json> = { ...values, ...(change.set as RunLocalValues | undefined) };
  for (const key of change.delete ?? []) delete changed[key];
  return changed;
}

export function changeBetween(before: RunLocalValues, after: RunLocalValues): RunLocalChange | undefined {
  const set = Object.entries(after).filter(([key, value]) => !Object.hasOwn(before, key) || !isSame(before[key], value));
  const gone = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
  if (set.length === 0 && gone.length === 0) return undefined;
  return { ...(set.length === 0 ? {} : { set: Object.fromEntries(set) }), ...(gone.length === 0 ? {} : { delete: gone }) };
}

/** Undefined: the edit names an unknown call. */
export function editedValues(
  edit: RunLocalEdit | undefined,
  valuesOf: (activityId: string) => RunLocalValues | undefined,
  changeOf: (id: string) => RunLocalChange | undefined,
): RunLocalValues | undefined {
  let values = edit?.base === undefined ? {} : valuesOf(edit.base);
  for (const id of edit?.brought ?? []) {
    const change = changeOf(id);
    if (values === undefined || change === undefined) return undefined;
    values = changedValues(values, change);
  }
  return values === undefined ? undefined : changedValues(values, edit);
}

export class RunLocalFold {
  private readonly values = new Map<string, RunLocalValues>();
  private readonly brought = new Map<string, RunLocalChange>();

  add(fact: HistoryFact): void {
    switch (fact.kind) {
      case 'start':
        this.values.clear();
        this.brought.clear();
        return;
      case 'model-scheduled':
      case 'tool-scheduled':
        this.schedule(fact.activityId, fact.input.runLocal);
        return;
      case 'activity-completed':
        this.bring(fact.result);
    }
  }

  /** Undefined: the call or the base is unknown. */
  valuesOf(activityId: string): RunLocalValues | undefined {
    return this.values.get(activityId);
  }

  private schedule(activityId: string, edit: RunLocalEdit | undefined): void {
    const values = editedValues(
      edit,
      (id) => this.values.get(id),
      (id) => this.brought.get(id),
    );
    if (values !== undefined) this.values.set(activityId, values);
  }

  private bring(result: unknown): void {
    const { runLocal } = (result ?? {}) as { readonly runLocal?: CallChange };
    if (runLocal !== undefined) this.brought.set(runLocal.id, runLocal);
  }
}

function isSame(before: Json | undefined, after: Json): boolean {
  return before === after || (typeof before === 'object' && JSON.stringify(before) === JSON.stringify(after));
}
