import { defined } from '../../contract/defined';
import type { StoredMessage } from '../../contract/messages/messages';
import { toolMessage } from '../../contract/messages/messages';
import type { RunScope } from '../run/scope';
import type { FlowAction } from '../define/actions';
import { append } from '../run/conversation';
import type { AgentEnd, HandOverDefinition } from '../define/definition';
import type { AgentPlace } from '../run/place';
import { enterAgent } from './run-agent';
import { transferResult, transferTool } from '../define/transfer-names';

/** Runs the agent, and adds the transfer messages after a good end. An agent that exits has the last word. */
export async function runHandOver(run: RunScope, { name, agent, to }: HandOverDefinition, place: AgentPlace): Promise<AgentEnd> {
  const end = await enterAgent(run, agent, place);
  if (end.exited === true || (end.action !== undefined && 'exit' in end.action)) return end;
  let action: FlowAction | undefined;
  const uuid = (): string => run.ports.uuid();
  const show = (message: StoredMessage, shown?: FlowAction): void => {
    run.ports.emit({ type: 'agent-message', agent: name, runPath: place.path, message, ...defined({ action: shown }) });
    if (place.branch !== undefined) append(run, place.branch, name, message);
  };
  for (const target of to) {
    const call = { id: uuid(), name: transferTool, input: { agent_name: target } };
    action = { transferTo: target };
    show({ id: uuid(), role: 'assistant', parts: [{ type: 'tool-call', ...call }] });
    show(toolMessage(uuid(), call, transferResult(target)), action);
  }
  return { output: end.output, text: end.text, ...defined({ action }) };
}
