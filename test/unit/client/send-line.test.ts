import { AsyncLocalStorage } from 'node:async_hooks';
import type { SendRoute } from '../../../client/conversations/send-line';
import { SendLine, SendLines } from '../../../client/conversations/send-line';
import type { ConversationCommand, SentMessage } from '../../../contract/conversations';

const message = (id: string, content = 'x'): SentMessage => ({ id, content, mode: 'after-turn' });

function slowRun(agent?: string) {
  const trips: string[][] = [];
  const open: (() => void)[] = [];
  const route: SendRoute = {
    ...(agent === undefined ? {} : { agent }),
    command: async (command) => {
      const { messages } = command as Extract<ConversationCommand, { type: 'send' }>;
      trips.push(messages.map(({ id }) => id));
      await new Promise<void>((resolve) => open.push(resolve));
      return { sent: messages.map(({ id }) => ({ id, turn: trips.length })) };
    },
  };
  const answer = async (): Promise<void> => {
    open.shift()?.();
    for (let tick = 0; tick < 10; tick++) await Promise.resolve();
  };
  return { route, trips, answer };
}

describe('messages on their way', () => {
  it('go together when they come while others are under way, in their order', async () => {
    const { route, trips, answer } = slowRun();
    const line = new SendLine();
    const sent = ['a', 'b', 'c'].map((id) => line.send(message(id), route));
    await answer();
    await answer();
    expect(trips).toEqual([['a'], ['b', 'c']]);
    expect(await Promise.all(sent)).toEqual([
      { id: 'a', turn: 1 },
      { id: 'b', turn: 2 },
      { id: 'c', turn: 2 },
    ]);
  });

  it('go apart when they are for different agents, more than 100, or too large for one trip', async () => {
    const { route, trips, answer } = slowRun();
    const other = slowRun('other');
    const line = new SendLine();
    for (let n = 0; n < 102; n++) void line.send(message(`m${n}`), route);
    void line.send(message('other'), other.route);
    for (const id of ['l1', 'l2']) void line.send(message(id, 'x'.repeat(200 * 1024)), route);
    for (let trip = 0; trip < 6; trip++) {
      await answer();
      await other.answer();
    }
    expect(trips.map(({ length }) => length)).toEqual([1, 100, 1, 1, 1]);
    expect(other.trips).toEqual([['other']]);
  });

  it('are refused from the 1,001st on, and above 4 MB', async () => {
    const { route } = slowRun();
    const full = { code: 'conversation-full', message: expect.stringContaining('on their way') as string };
    const many = new SendLine();
    for (let n = 0; n < 1000; n++) void many.send(message(`m${n}`), route);
    await expect(many.send(message('more'), route)).rejects.toMatchObject(full);
    const large = new SendLine();
    for (let n = 0; n < 20; n++) void large.send(message(`m${n}`, 'x'.repeat(200 * 1024)), route);
    await expect(large.send(message('more', 'x'.repeat(200 * 1024)), route)).rejects.toMatchObject(full);
    void large.send(message('short'), route);
  });

  it('fail with their own trip only', async () => {
    const { route, answer } = slowRun();
    const line = new SendLine();
    const failing: SendRoute = { command: () => Promise.reject(new Error('Lost.')) };
    const first = line.send(message('a'), failing);
    const second = line.send(message('b'), route);
    await expect(first).rejects.toThrow('Lost.');
    await answer();
    expect(await second).toEqual({ id: 'b', turn: 1 });
  });

  it('have as much time as who sent the last of them', async () => {
    const deadline = new AsyncLocalStorage<number>();
    const seen: (number | undefined)[] = [];
    const { route, answer } = slowRun();
    const watched: SendRoute = { command: (command) => (seen.push(deadline.getStore()), route.command(command)) };
    const line = new SendLine();
    for (const at of [1, 2, 3]) deadline.run(at, () => void line.send(message(`m${at}`), watched));
    await answer();
    await answer();
    expect(seen).toEqual([1, 3]);
  });

  it('of one client share a line, whichever object sends them', async () => {
    const { route, trips, answer } = slowRun();
    const lines = new SendLines();
    for (const id of ['a', 'b', 'c']) void lines.send('chat', message(id), route);
    void lines.send('other', message('d'), route);
    for (let trip = 0; trip < 3; trip++) await answer();
    expect(trips).toEqual([['a'], ['d'], ['b', 'c']]);
  });
});
