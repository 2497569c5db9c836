import { jsonSize, limits } from '../../contract/limits';
import type { Json, JsonObject } from '../../contract/messages/messages';
import type { ChildUsage } from '../../contract/usage';
import { packByModel } from '../../contract/usage';
import type { RunState } from './state';

/** What counts for the run that an isolated agent is part of, also where the agent has no result. */
export interface Left {
  readonly usage: ChildUsage;
  readonly session?: JsonObject;
}

/** Session values that do not fit together are left out, all of them: no code ever saw some without the others. */
export function leftOf(state: Pick<RunState, 'usage' | 'usageByModel' | 'session'>, before: JsonObject | undefined): Left {
  const usage = childUsageOf(state);
  const left: Left = { usage, ...sessionChanges(before, state.session) };
  return jsonSize(left) > limits.payload ? { usage } : left;
}

export function childUsageOf({ usage, usageByModel }: Pick<RunState, 'usage' | 'usageByModel'>): ChildUsage {
  return { ...usage, byModel: packByModel(usage, usageByModel) };
}

/** The session values that a run has set, other than those that it began with. */
export function sessionChanges(before: JsonObject | undefined, after: Readonly<Record<string, Json>>): { readonly session?: JsonObject } {
  const changed = Object.entries(after).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(before?.[key]));
  return changed.length === 0 ? {} : { session: Object.fromEntries(changed) };
}
