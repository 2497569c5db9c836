import type { EventBody } from '../events';
import { agentOfPath, isShown } from './agent-paths';
import type { CallModelInput, CallModelResult, CallToolInput } from './wire';

export interface ScheduledCall {
  readonly activityId: string;
  readonly tool?: CallToolInput;
  readonly model?: CallModelInput;
}

export function waitOf({ activityId, model }: ScheduledCall, { waited }: CallModelResult): readonly EventBody[] {
  if (waited === undefined || model === undefined || !isShown(model.path)) return [];
  const { path, turn } = model;
  return [{ type: 'model-wait', agent: agentOfPath(path), runPath: path, turn, address: activityId, ...waited }];
}
