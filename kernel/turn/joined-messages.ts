import { isConversation } from '../../contract/record/agent-paths';
import type { QueuedMessage } from '../../contract/conversations';
import { authorOf } from '../../contract/author';
import type { EventBody } from '../../contract/events';
import type { MessageInbox } from '../run/message-inbox';
import { append } from '../run/conversation';
import type { Ports } from '../run/ports';
import type { AgentScope } from '../run/scope';
import { stopsTurn } from '../run/turn-stop';

/** Agents as tools finish their work in a stopped turn. */
export function isStopped({ run, path }: Pick<AgentScope, 'run' | 'path'>): boolean {
  return stopsTurn(run) && isConversation(path);
}

/** Ends a stopped turn, and takes joining messages, which re-entered code has already taken. */
export async function endsHere({ run, agent, path, record, branch }: AgentScope, inbox: MessageInbox): Promise<boolean> {
  if (record.joined === record.turn || !isConversation(path)) return false;
  if (inbox.mustStop) {
    inbox.state.isCut = true;
    return true;
  }
  await inbox.room(() => inbox.joining);
  const { joining, state } = inbox;
  record.joined = record.turn;
  inbox.take(joining);
  record.messages = [...record.messages, ...joining.map(({ message }) => message)];
  for (const queued of joining) {
    tellMessage(run.ports, { agent: agent.name, runPath: path, turn: state.turn }, queued);
    if (branch !== undefined) append(run, branch, null, queued.message);
  }
  return false;
}

type MessagePlace = Pick<Extract<EventBody, { type: 'message' }>, 'agent' | 'runPath' | 'turn'>;

export function tellMessage(ports: Pick<Ports, 'emit'>, place: MessagePlace, queued: QueuedMessage): void {
  const { id, mode, message } = queued;
  ports.emit({ type: 'message', ...place, id, mode, message, ...authorOf(queued) });
}
