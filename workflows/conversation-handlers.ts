import { defineSignal, defineUpdate, setHandler } from '@temporalio/workflow';
import type { ConversationCommand, ConversationReply } from '../contract/conversations';
import { commandProblem } from '../contract/conversations';
import { jsonSize } from '../contract/limits';
import { names } from '../contract/names';
import type { AgentRun } from '../kernel/engine/run';
import type { Ports } from '../kernel/run/ports';
import { refusedAnswer } from './answer-inbox';
import type { TaskRoom } from './task-room';
import type { TemporalPorts } from './temporal-ports';

const conversationUpdate = defineUpdate<ConversationReply, [ConversationCommand]>(names.conversationUpdate);
const conversationSignal = defineSignal<[ConversationCommand]>(names.conversationSignal);

interface Listening {
  readonly run: Pick<AgentRun, 'converse'>;
  readonly room: Pick<TaskRoom, 'accepts' | 'take'>;
  readonly ports: Pick<Ports, 'emit'> & Pick<TemporalPorts, 'heardOfBuild'>;
  came(how: 'signals' | 'updates'): void;
}

/** Any client may send any content. */
export function listenToConversation({ run, room, ports, came }: Listening): void {
  const take = (command: ConversationCommand): ConversationReply => {
    // The history has the command itself, and the event about it.
    room.take(2 * jsonSize(command));
    const problem = commandProblem(command);
    if (problem === undefined) ports.heardOfBuild(command.newest);
    return problem === undefined ? run.converse(command) : { refused: { code: 'input-invalid', message: problem } };
  };
  setHandler(
    conversationUpdate,
    (command) => {
      came('updates');
      return take(command);
    },
    {
      validator: (command) => {
        if (room.accepts(2 * jsonSize(command))) return;
        throw refusedAnswer({ code: 'run-busy', message: 'The run took other messages at this moment. Send it again.' });
      },
    },
  );
  setHandler(conversationSignal, (command) => {
    came('signals');
    const reply = take(command);
    // A signal has no reply.
    for (const { id, code } of ignoredIn(command, reply)) ports.emit({ type: 'message-ignored', id, code });
  });
}

function ignoredIn(command: ConversationCommand, { sent = [], refused }: ConversationReply): readonly { id: string; code: string }[] {
  if (refused === undefined) return sent.flatMap((one) => ('refused' in one ? [{ id: one.id, code: one.refused.code }] : []));
  const isHere = refused.code !== 'not-a-conversation' && commandProblem(command) === undefined && command.type === 'send';
  return isHere ? command.messages.map(({ id }) => ({ id, code: refused.code })) : [];
}
