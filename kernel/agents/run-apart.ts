import type { StoredMessage } from '../../contract/messages/messages';
import type { RunScope } from '../run/scope';
import { closeConversation, openConversation } from '../run/conversation';
import type { AgentEnd, AnyAgent } from '../define/definition';
import type { AgentPlace } from '../run/place';
import { keyOf, noteLeft } from '../run/place';
import { runAgent } from './run-agent';
import { isCancellation } from '../effects/errors';

export function isAlone(agent: AnyAgent): boolean {
  return agent.kind === 'chat' && agent.subAgents.length === 0;
}

export async function runApart(
  run: RunScope,
  agent: AnyAgent,
  place: Pick<AgentPlace, 'path' | 'frame'>,
  messages: () => readonly StoredMessage[],
): Promise<AgentEnd> {
  if (isAlone(agent)) return runAgent(run, agent, { ...place, messages });
  const key = keyOf(place);
  const branch = run.state.sharedMessages?.[key] === undefined ? openConversation(run, key, messages()) : { conversation: key, path: '' };
  let end: AgentEnd;
  try {
    end = await runAgent(run, agent, { ...place, branch });
  } catch (error) {
    // A resumed run continues this conversation.
    if (isCancellation(error)) throw error;
    noteLeft(run, place);
    closeConversation(run, key);
    throw error;
  }
  closeConversation(run, key);
  return end;
}
