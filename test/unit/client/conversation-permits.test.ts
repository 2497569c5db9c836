import type { ConversationChannel } from '../../../client/conversations/conversation';
import { Conversation } from '../../../client/conversations/conversation';
import { HoldfastError } from '../../../contract/errors';

it('a caller who may not read sends no message whose turn only the log tells, and other messages count', async () => {
  const sent: string[] = [];
  const channel = {
    permit: (action: string) =>
      action === 'runs:read' ? Promise.reject(new HoldfastError('action-forbidden', 'ann may not read.')) : Promise.resolve(),
    command: ({ messages }: { readonly messages: readonly { readonly id: string }[] }) => {
      sent.push(...messages.map(({ id }) => id));
      return Promise.resolve({ sent: messages.map(({ id }) => ({ id, turn: 1 })) });
    },
  } as unknown as ConversationChannel;
  const chat = new Conversation('chat', channel);
  await expect(chat.send('Hi', { id: 'm1', mode: 'next-step' })).rejects.toMatchObject({ code: 'action-forbidden' });
  expect(await chat.send('Hi', { id: 'm2' })).toEqual({ id: 'm2', turn: 1 });
  expect(sent).toEqual(['m2']);
});
