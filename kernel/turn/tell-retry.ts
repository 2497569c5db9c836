import type { EventBody } from '../../contract/events';
import type { ModelError } from '../define/retry-options';
import type { AgentScope } from '../run/scope';

type ModelRetry = Extract<EventBody, { type: 'model-retry' }>;

export function tellRetry(
  { run, agent, path, record }: AgentScope,
  attempt: number,
  { code, message }: ModelError,
  more: Pick<ModelRetry, 'rejectReason' | 'failover' | 'last'>,
): void {
  const of = { agent: agent.name, runPath: path, turn: record.turn };
  run.ports.emit({ type: 'model-retry', ...of, attempt, error: { code, message }, ...more });
}
