import { jsonSize, limits } from '../../contract/limits';
import type { Json, JsonObject } from '../../contract/messages/messages';
import type { ChildUsage } from '../../contract/usage';
import { packByModel } from '../../contract/usage';
import type { RunState } from './state';

export interface Left {
  readonly usage: ChildUsage;
  readonly session?: JsonObject;
}

/** Drops session values that do not fit together, so code never sees a part of them. */
export function leftOf(state: Pick<RunState, 'usage' | 'usageByModel' | 'session'>, before: JsonObject | undefined): Left {
  const usage = childUsageOf(state);
  const left: Left = { usage, ...sessionChanges(before, state.session) };
  return jsonSize(left) > limits.payload ? { usage } : left;
}

export function childUsageOf({ usage, usageByModel }: Pick<RunState, 'usage' | 'usageByModel'>): ChildUsage {
  return { ...usage, byModel: packByModel(usage, usageByModel) };
}

export function sessionChanges(before: JsonObject | undefined, after: Readonly<Record<string, Json>>): { readonly session?: JsonObject } {
  const changed = Object.entries(after).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(before?.[key]));
  return changed.length === 0 ? {} : { session: Object.fromEntries(changed) };
}
