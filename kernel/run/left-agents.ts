import type { Json, StoredMessage } from '../../contract/messages/messages';
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
