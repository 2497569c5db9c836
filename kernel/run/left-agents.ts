import type { Json, StoredMessage } from '../../contract/messages/messages';
import type { AgentPlace } from './place';
import { keyOf } from './place';
import type { RunScope } from './scope';
import type { AgentRecord, Progress, RunState, SharedMessage } from './state';

export interface LeftAgent {
  readonly key: string;
  readonly record?: AgentRecord;
  readonly progress?: Progress;
  readonly runLocal?: Record<string, Json>;
  readonly action?: Json;
  readonly ensured?: readonly StoredMessage[];
  readonly sharedMessages?: SharedMessage[];
}

/** The first note wins, because the note is nearest to the error. */
export function noteLeft({ state, checkpoints, leftAgents }: RunScope, { path, frame }: Pick<AgentPlace, 'path' | 'frame'>): void {
  const key = keyOf({ path });
  const { [key]: record = undefined } = state.agents;
  const now: Record<string, unknown> = {
    record: checkpoints.get(key) ?? record,
    progress: state.progress?.[key],
    runLocal: state.runLocal[key],
    action: state.actions?.[key],
    ensured: state.ensured?.[key],
    sharedMessages: state.sharedMessages?.[key],
  };
  const before = leftAgents.get(frame.key);
  const known = Object.fromEntries(Object.entries(now).filter(([, value]) => value !== undefined));
  leftAgents.set(frame.key, { ...known, ...before, key });
}

export function withAgent(state: RunState, left: LeftAgent): RunState {
  const { key, record, progress, runLocal, action, ensured, sharedMessages } = left;
  const put = <Value>(values: Readonly<Record<string, Value>> | undefined, value: Value | undefined): Record<string, Value> | undefined =>
    value === undefined ? values : { ...values, [key]: value };
  const optional = {
    progress: put(state.progress, progress),
    actions: put(state.actions, action),
    ensured: put(state.ensured, ensured),
    sharedMessages: put(state.sharedMessages, sharedMessages),
  };
  return {
    ...state,
    agents: put(state.agents, record) ?? {},
    runLocal: put(state.runLocal, runLocal) ?? {},
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  };
}
