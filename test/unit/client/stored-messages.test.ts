import { Authority } from '../../../client/connection/authority';
import { defaultPayloadConverter } from '@temporalio/common';
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow';
import { messagesIn, withStored, StoredSignals } from '../../../client/reading/stored-signals';
import { RunChannel } from '../../../client/conversations/conversation-channel';
import type { ConversationCommand, QueuedMessage } from '../../../contract/conversations';
import { messageOfSent } from '../../../contract/conversations';
import type { RunView } from '../../../contract/events';
import { names } from '../../../contract/names';
import { PayloadReader } from '../../../host/history/payload-reader';

type SentEvent = Parameters<StoredSignals['add']>[0];

const signalOf = (command: unknown, signalName: string = names.conversationSignal): SentEvent => ({
  workflowExecutionSignaledEventAttributes: { signalName, input: { payloads: [defaultPayloadConverter.toPayload(command)] } },
});
const send = (...ids: readonly string[]): ConversationCommand => ({
  type: 'send',
  messages: ids.map((id) => ({ id, content: id, mode: 'after-turn', by: 'Ann' })),
});
const queued = (id: string): QueuedMessage => {
  const message = messageOfSent({ id, content: id, by: 'Ann' });
  return { id, mode: 'after-turn', message, by: 'Ann' };
};

async function stored(...events: readonly SentEvent[]): Promise<readonly QueuedMessage[]> {
  const signals = new StoredSignals(names.conversationSignal, new PayloadReader(loadDataConverter()));
  for (const event of events) signals.add(event);
  return messagesIn(signals);
}

const viewWith = (queue: readonly QueuedMessage[], status: RunView['status'] = 'idle'): RunView =>
  ({ status, conversation: { turn: 1, status: 'idle', paused: false, queue } }) as unknown as RunView;

describe('messages that came while no worker ran', () => {
  it('wait in the order in which they came', async () => {
    const taken = { workflowTaskCompletedEventAttributes: {} };
    const found = await stored(signalOf(send('a')), taken, signalOf(send('b', 'c')), signalOf({ interruptId: 'i' }, names.answerSignal));
    expect(found).toEqual([queued('b'), queued('c')]);
    expect(withStored(viewWith([queued('a')]), found).conversation?.queue.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  });

  it('are none of what is no message', async () => {
    expect(await stored(signalOf({ type: 'send' }), signalOf('x'), signalOf({ type: 'stop' }), signalOf(send('../')))).toEqual([]);
  });

  it('wait once, and not in a conversation that has ended', async () => {
    const found = await stored(signalOf(send('a')));
    expect(withStored(viewWith([queued('a')]), found).conversation?.queue).toEqual([queued('a')]);
    expect(withStored(viewWith([], 'completed'), found).conversation?.queue).toEqual([]);
  });
});

describe('what nobody took of a conversation', () => {
  const channel = (view: Partial<RunView>): RunChannel => {
    const late = (): never => {
      throw Object.assign(new Error('4 DEADLINE_EXCEEDED'), { code: 4 });
    };
    const reader = {
      work: { wait: (doing: Promise<unknown>) => doing },
      withDeadline: (_: number, run: () => unknown) => run(),
      handle: () => ({ executeUpdate: async () => late() }),
      view: async () => view,
    };
    const newest = { get: async () => undefined };
    const acting = new Authority(() => Promise.reject(new Error('no run is described')));
    return new RunChannel({ newest, acting, reader: reader as never, workflow: {} as never, workflowId: 'default/c', id: 'c' });
  };

  it('needs a worker', async () => {
    const error = { code: 'worker-missing', message: 'No worker took what was asked of the conversation "c" within 5 s.' };
    await expect(channel(viewWith([])).command({ type: 'pause' })).rejects.toMatchObject(error);
  });

  it('needs other code where its code fails', async () => {
    const stuck = { ...viewWith([], 'stuck'), error: { code: 'run-stuck', message: 'x is not a function' } };
    await expect(channel(stuck).command({ type: 'pause' })).rejects.toMatchObject(stuck.error);
  });
});
