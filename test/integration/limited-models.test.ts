import { defineTool } from '../../activities/tools/tools';
import type { HoldfastError } from '../../contract/errors';
import type { Run } from '../../client/runs/run';
import { z } from 'zod';
import { fixtureTools } from '../fixtures/tools';
import type { FakeStep } from '../support/fake-provider/fake-provider';
import { gate, meeting } from '../support/gate';
import type { LimitedProvider } from '../support/limited-provider';
import { startLimitedProvider } from '../support/limited-provider';
import { startRedis } from '../support/redis';
import { logOf } from '../support/server-logs';
import { eventually } from '../support/temporal';
import type { TestBed } from '../support/test-bed';
import { startTestBed } from '../support/test-bed';

const model = 'openai-compatible/any';
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const kept = <T extends { close(): Promise<void> }>(one: T): T => {
  open.push(one);
  return one;
};
const bedFor = async (provider: LimitedProvider, options: Parameters<typeof startTestBed>[1] = {}): Promise<TestBed> =>
  kept(await startTestBed(() => ({ parts: [] }), { environment: provider.environment, ...options }));
const startAll = (bed: TestBed, count: number): Promise<readonly Run[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => bed.client.start('plain', `Hi ${n}`, { model })));
const statuses = async (runs: readonly Run[]): Promise<readonly string[]> =>
  Promise.all(runs.map(async (run) => (await run.outcome()).status));
/** Answers together, to prove that `count` requests run in parallel. */
const answersTogether = (count: number): (() => FakeStep) => {
  const meet = meeting(count);
  return () => ({ blocks: [{ type: 'text', text: 'Done.' }], before: (index) => (index > 0 ? undefined : meet()) });
};
const waitsOf = async (run: Run): Promise<readonly { turnMs: number; busyMs: number }[]> =>
  (await logOf(run)).filter((event) => event.type === 'model-wait');

it('calls of a limited model wait for their turn, and the provider refuses none', async () => {
  const provider = kept(await startLimitedProvider(5, answersTogether(5)));
  const bed = await bedFor(provider, { models: { limits: { 'openai-compatible/*': { concurrent: 5 } } } });
  const runs = await startAll(bed, 60);
  expect(new Set(await statuses(runs))).toEqual(new Set(['completed']));
  expect({ refused: provider.refused, mostAtOnce: provider.mostAtOnce, requests: provider.requests.length }).toEqual({
    refused: 0,
    mostAtOnce: 5,
    requests: 60,
  });
});

it('calls that a provider refuses for now are made again until it takes them, however often that is', async () => {
  const held = gate();
  const provider = kept(
    await startLimitedProvider(1, () => ({
      blocks: [{ type: 'text', text: 'Done.' }],
      before: (index) => (index > 0 ? undefined : held.pass()),
    })),
  );
  const bed = await bedFor(provider);
  const runs = await startAll(bed, 12);
  await eventually(() => {
    expect(provider.refusedTexts.size).toBe(11);
    return Promise.resolve();
  });
  held.open();
  expect(new Set(await statuses(runs))).toEqual(new Set(['completed']));
  const waits = (await Promise.all(runs.map(waitsOf))).flat();
  expect(waits.length).toBeGreaterThanOrEqual(11);
  expect(waits.every(({ turnMs, busyMs }) => turnMs === 0 && busyMs > 0)).toBe(true);
});

it('a call that failed in passing is made five times, whatever it waited between', async () => {
  const provider = kept(await startLimitedProvider(1));
  let requests = 0;
  provider.answer(() => {
    requests += 1;
    return { error: requests % 2 === 1 ? { status: 429, message: 'Busy.' } : { status: 500, message: 'Down.', type: 'server_error' } };
  });
  const bed = await bedFor(provider);
  const outcome = await (await bed.client.start('plain', 'Hi', { model })).outcome();
  expect(outcome).toMatchObject({ status: 'failed', error: { code: 'model-failed', message: expect.stringContaining('Down.') as string } });
  expect(requests).toBe(10);
});

it('a run is cancelled while its call waits for a turn, in place or away, and the others go on', async () => {
  const held = gate();
  const provider = kept(await startLimitedProvider(1, () => ({ blocks: [{ type: 'text', text: 'Done.' }], before: () => held.pass() })));
  const bed = await bedFor(provider, { models: { limits: { '*': { concurrent: 1 } } } });
  const runs = await startAll(bed, 10);
  const retrying = async (): Promise<readonly Run[]> => {
    const views = await Promise.all(runs.map((run) => run.view()));
    return runs.filter((_, n) => views[n]?.retrying?.[0]?.error.code === 'waiting-for-turn');
  };
  let waiting = await retrying();
  while (waiting.length < 4) {
    // Frequent requests would occupy the worker in the same process.
    await new Promise((resolve) => setTimeout(resolve, 500));
    waiting = await retrying();
  }
  const [away] = waiting;
  await away?.cancel();
  expect(await away?.outcome()).toMatchObject({ status: 'cancelled' });
  held.open();
  const others = runs.filter((run) => run !== away);
  expect(new Set(await statuses(others))).toEqual(new Set(['completed']));
  expect({ refused: provider.refused, mostAtOnce: provider.mostAtOnce }).toEqual({ refused: 0, mostAtOnce: 1 });
  const waits = (await Promise.all(others.map(waitsOf))).flat();
  expect(waits.length).toBeGreaterThanOrEqual(3);
  expect(waits.every(({ turnMs, busyMs }) => turnMs > 0 && busyMs === 0)).toBe(true);
});

it('calls of a tool work as many at a time as it says, a `once` call is made once, and each knows for whom its run works', async () => {
  const atWork = { now: 0, most: 0, made: 0 };
  let customers: string[] = [];
  const meet = meeting(2);
  const limited = (effect: 'none' | 'once') =>
    defineTool({
      description: 'Takes a while.',
      inputSchema: z.object({}).loose(),
      effect,
      concurrency: 2,
      timeout: '5s',
      execute: async (_, { values, tags }) => {
        customers.push(`${String(values['customer'])} ${tags.join()}`);
        atWork.most = Math.max(atWork.most, ++atWork.now);
        atWork.made += 1;
        await meet();
        atWork.now -= 1;
        return 'ok';
      },
    });
  for (const tool of ['echo', 'pay'] as const) {
    Object.assign(atWork, { now: 0, most: 0, made: 0 });
    customers = [];
    const bed = kept(
      await startTestBed(
        ({ messages }) =>
          messages.some(({ role }) => role === 'tool')
            ? { parts: [{ type: 'text', text: 'Done.' }] }
            : { parts: [{ type: 'tool-call', id: 'c', name: tool, input: { text: 'x', amount: 1 } }] },
        { tools: { ...fixtureTools, [tool]: limited(tool === 'pay' ? 'once' : 'none') } },
      ),
    );
    const runs = await Promise.all(
      Array.from({ length: 14 }, (__, n) => bed.client.start('plain', 'Hi', { values: { customer: `c${n}` }, tags: ['night'] })),
    );
    expect(new Set(await statuses(runs))).toEqual(new Set(['completed']));
    expect(atWork).toEqual({ now: 0, most: 2, made: 14 });
    expect(customers.sort()).toEqual(Array.from({ length: 14 }, (__, n) => `c${n} night`).sort());
  }
});

it('workers share a limit through Redis, and keep to it alone while that is away', async () => {
  const provider = kept(await startLimitedProvider(3, answersTogether(3)));
  const redis = await startRedis();
  kept({ close: () => redis.kill() });
  const problems: HoldfastError[] = [];
  const options = {
    models: { limits: { 'openai-compatible/*': { concurrent: 3, perMinute: 100_000, tokensPerMinute: 10_000_000 } } },
    redisUrl: redis.url,
    onProblem: (problem: HoldfastError) => void problems.push(problem),
  };
  const bed = await bedFor(provider, options);
  await bedFor(provider, { ...options, taskQueue: bed.taskQueue });
  expect(new Set(await statuses(await startAll(bed, 39)))).toEqual(new Set(['completed']));
  expect({ refused: provider.refused, mostAtOnce: provider.mostAtOnce }).toEqual({ refused: 0, mostAtOnce: 3 });
  expect(problems).toEqual([]);
  await redis.kill();
  expect(new Set(await statuses(await startAll(bed, 12)))).toEqual(new Set(['completed']));
  expect(problems.map(({ code }) => code)).toEqual(['limits-not-shared', 'limits-not-shared']);
});
