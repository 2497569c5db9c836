import { agentOfPath } from './agent-paths';
import type { EventBody } from '../events';
import type { StoredMessage } from '../messages/messages';
import { toolMessage } from '../messages/messages';
import type { CallToolInput, CallToolResult } from './wire';

export function toolStart(address: string, { path, tool, callId, input }: CallToolInput): Extract<EventBody, { type: 'tool-start' }> {
  return { type: 'tool-start', agent: agentOfPath(path), runPath: path, tool, callId, input, address };
}

export function messageOfOutcome(input: Pick<CallToolInput, 'callId' | 'tool'>, { outcome }: CallToolResult): StoredMessage | undefined {
  const call = { id: input.callId, name: input.tool };
  if (outcome.type === 'done') return toolMessage(outcome.messageId, call, outcome.output, { multipart: outcome.multipart === true });
  if (outcome.type === 'failed') return toolMessage(outcome.messageId, call, outcome.error.message, { isError: true });
  return undefined;
}
