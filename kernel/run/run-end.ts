import { jsonSize, limits } from '../../contract/limits';
import type { Json, JsonObject, Usage } from '../../contract/messages/messages';
import type { RunState } from './state';

/** What counts for the run that an isolated agent is part of, also where the agent has no result. */
export interface Left {
  readonly usage: Usage;
  readonly session?: JsonObject;
}

/** Session values that do not fit together are left out, all of them: no code ever saw some without the others. */
export function leftOf({ usage, session }: Pick<RunState, 'usage' | 'session'>, before: JsonObject | undefined): Left {
  const left: Left = { usage, ...sessionChanges(before, session) };
  return jsonSize(left) > limits.payload ? { usage } : left;
}

/** The session values that a run has set, other than those that it began with. */
export function sessionChanges(before: JsonObject | undefined, after: Readonly<Record<string, Json>>): { readonly session?: JsonObject } {
  const changed = Object.entries(after).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(before?.[key]));
  return changed.length === 0 ? {} : { session: Object.fromEntries(changed) };
}
