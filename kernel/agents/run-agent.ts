import { defined } from '../../contract/defined';
import type { StoredMessage } from '../../contract/messages/messages';
import { toolMessage } from '../../contract/messages/messages';
import type { RunScope } from '../run/scope';
import { runAround } from './called';
import { runChat } from './chat';
import { runCustom } from './custom';
import type { AgentEnd, AnyAgent, HandOverDefinition } from '../define/definition';
import type { FlowAction } from '../define/actions';
import { transferResult, transferTool } from '../define/transfer-names';
import { append } from '../run/conversation';
import { runParallel } from './parallel';
import type { AgentPlace } from '../run/place';
import { forget, forgetFailed, isEntered, recordAt } from '../run/place';
import { runSequence } from './sequence';
import { runTeam } from './team';
import { failureOf, isCancellation } from '../effects/errors';

export async function runAgent(run: RunScope, agent: AnyAgent, place: AgentPlace): Promise<AgentEnd> {
  if (place.path.length === 1) return enterAgent(run, agent, place);
  const about = { agent: agent.name, runPath: place.path };
  if (!isEntered(run, place)) {
    recordAt(run, place);
    run.ports.emit({ type: 'agent-start', ...about });
  }
  let end: AgentEnd;
  const leaves = run.cancels.enters();
  try {
    end = await enterAgent(run, agent, place);
  } catch (error) {
    if (isCancellation(error)) throw error;
    forgetFailed(run, place);
    run.ports.threw?.(error, { agent: agent.name, address: place.path.join('/') });
    run.ports.emit({ type: 'agent-end', ...about, error: failureOf(error) });
    leaves();
    throw error;
  }
  forget(run, place);
  run.ports.emit({ type: 'agent-end', ...about, ...defined({ action: end.action }) });
  leaves();
  return end;
}

/** Emits no events. */
export function enterAgent(run: RunScope, agent: AnyAgent, place: AgentPlace): Promise<AgentEnd> {
  return runAround(run, agent, place, () => enterKind(run, agent, place));
}

function enterKind(run: RunScope, agent: AnyAgent, place: AgentPlace): Promise<AgentEnd> {
  switch (agent.kind) {
    case 'chat':
      return agent.subAgents.length > 0 && place.neighbours === undefined ? runTeam(run, agent, place) : runChat(run, agent, place);
    case 'team':
      return runAgent(run, agent.lead, { ...place, path: [...place.path, agent.lead.name], frame: place.frame.child(agent.lead.name) });
    case 'sequential':
    case 'loop':
      return runSequence(run, agent, place);
    case 'parallel':
      return runParallel(run, agent, place);
    case 'hand-over':
      return runHandOver(run, agent, place);
    case 'custom':
      return runCustom(run, agent, place);
  }
}

/** An agent that exits does not hand over. */
async function runHandOver(run: RunScope, { name, agent, to }: HandOverDefinition, place: AgentPlace): Promise<AgentEnd> {
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
