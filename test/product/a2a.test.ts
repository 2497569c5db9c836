import type { Client } from '@a2a-js/sdk/client';
import type { Task } from '@a2a-js/sdk';
import { a2aClient, saying, stateOf, textsOf, told } from '../support/a2a-bed';
import type { ServiceBed } from './service-bed';
import { eventually, startServiceBed } from './service-bed';

let bed: ServiceBed;
let client: Client;
beforeAll(async () => {
  bed = await startServiceBed();
  client = await a2aClient(fetch, `${bed.url}/a2a/support/`);
});
afterAll(() => bed.close());

const refund = 'Refund order 42, it arrived broken';
let contexts = 0;
const inContext = () => ({ contextId: `a2a-product-${++contexts}` });
const get = (from: Client, id: string): Promise<Task> => from.getTask({ tenant: '', id });

describe('the client of A2A at /a2a/AGENT', () => {
  it('streams a task to its question, and its answer word by word to the end', async () => {
    const context = inContext();
    const { task, lines } = await told(client.sendMessageStream(saying(refund, context)));
    expect(lines.at(-1)).toBe('INPUT_REQUIRED');
    const resumed = await told(client.sendMessageStream(saying('yes', { ...context, taskId: task.id })));
    expect(resumed.lines.filter((line) => line.startsWith('+')).length).toBeGreaterThan(5);
    expect(resumed.lines.at(-1)).toBe('COMPLETED');
    const pieces = resumed.lines.slice(0, -1).map((line) => line.replace(/^[=+.]+ ?/, ''));
    expect(textsOf(await get(client, task.id))).toHaveLength(1);
    expect(pieces.join('').replaceAll(' ', '')).toBe(textsOf(await get(client, task.id))[0]?.replaceAll(' ', ''));
  });

  it('has its tasks from another service, which keeps nothing, and answers there', async () => {
    const first = await bed.another();
    const before = await a2aClient(fetch, `${first.url}/a2a/support/`);
    const task = (await before.sendMessage(saying(refund, inContext()))) as Task;
    await first.close();
    const second = await bed.another();
    const after = await a2aClient(fetch, `${second.url}/a2a/support/`);
    expect(await get(after, task.id)).toEqual(task);
    const done = (await after.sendMessage(saying('yes', { contextId: task.contextId, taskId: task.id }))) as Task;
    expect([done.id, stateOf(done)]).toEqual([task.id, 'COMPLETED']);
    await second.close();
  });

  it('may leave in the middle of a request: its message again is the same task', async () => {
    const message = saying(refund, inContext());
    const gone = new AbortController();
    const first = client.sendMessage(message, { signal: gone.signal });
    gone.abort();
    await expect(first).rejects.toThrow();
    const task = (await client.sendMessage(message)) as Task;
    expect(stateOf(task)).toBe('INPUT_REQUIRED');
    expect(
      (await client.listTasks({ tenant: '', contextId: task.contextId, status: 0, pageToken: '', statusTimestampAfter: undefined }))
        .totalSize,
    ).toBe(1);
    const cancelled = await client.cancelTask({ tenant: '', id: task.id, metadata: undefined });
    expect(stateOf(cancelled)).toBe('CANCELED');
  });

  it('begins tasks after one that is at work, and each has its own answer', async () => {
    const context = inContext();
    const begin = (text: string) => client.sendMessage(saying(text, context, true)) as Promise<Task>;
    const [first, second] = [await begin('Where is my order 43?'), await begin('Where is my order 42?')];
    const texts = await Promise.all(
      [first, second].map(({ id }) =>
        eventually(async () => {
          const task = await get(client, id);
          return stateOf(task) === 'COMPLETED' ? textsOf(task).at(-1) : undefined;
        }),
      ),
    );
    expect(texts).toEqual([expect.stringContaining('"43"'), expect.stringContaining('"42"')]);
  });

  it('has a task that waits on the server while no worker is there', async () => {
    const context = inContext();
    await client.sendMessage(saying('Where is my order 43?', context));
    await bed.stopWorkers();
    const task = (await client.sendMessage(saying('Where is my order 42?', context))) as Task;
    expect([stateOf(task), stateOf(await get(client, task.id))]).toEqual(['SUBMITTED', 'SUBMITTED']);
    await expect(client.cancelTask({ tenant: '', id: task.id, metadata: undefined })).rejects.toMatchObject({
      data: [{ metadata: { code: 'worker-missing' } }],
    });
  });
});
