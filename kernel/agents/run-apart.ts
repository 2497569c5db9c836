import type { StoredMessage } from '../../contract/messages/messages';
import { noteLeft } from '../run/left-agents';
import type { RunScope } from '../run/scope';
import { closeConversation, openConversation } from '../run/conversation';
import type { AgentEnd, AnyAgent } from '../define/definition';
import type { AgentPlace } from '../run/place';
import { keyOf } from '../run/place';
import { runAgent } from './run-agent';

/** Whether an agent has others beside it that hear what it says. */
export function isAlone(agent: AnyAgent): boolean {
  return agent.kind === 'chat' && agent.subAgents.length === 0;
}

/** An agent with a conversation of its own, which begins with these messages. */
export async function runApart(
  run: RunScope,
  agent: AnyAgent,
  place: Pick<AgentPlace, 'path' | 'frame'>,
  messages: () => readonly StoredMessage[],
): Promise<AgentEnd> {
  if (isAlone(agent)) return runAgent(run, agent, { ...place, messages });
  const key = keyOf(place);
  const branch = run.state.said?.[key] === undefined ? openConversation(run, key, messages()) : { conversation: key, path: '' };
  try {
    return await runAgent(run, agent, { ...place, branch });
  } catch (error) {
    noteLeft(run, place);
    throw error;
  } finally {
    closeConversation(run, key);
  }
}
