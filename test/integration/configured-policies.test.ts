import { textOf } from '../../contract/messages/messages';
import { codeOf } from '../../contract/errors';
import type { Interrupt } from '../../contract/interrupts';
import type { StoredMessage } from '../../contract/messages/messages';
import { policy } from '../../middleware/index';
import { fixtureTools } from '../fixtures/tools';
import { approvedIn, decideBatch, ofTwo, payingTool, randomBatch, resultsIn, wordsOf } from '../support/batches';
import { eventually } from '../support/temporal';
import type { Answerer } from '../support/test-bed';
import { calls, script, startTestBed, text } from '../support/test-bed';

const refundThenDone = script(calls({ name: 'refund', input: { orderId: '42', amount: 80 } }), text('Done.'));
const options = { tools: fixtureTools };

// They wait for the time, so they do it together.

const of = (...users: readonly string[]): object =>
  policy({ name: 'refunds', tools: ['refund'], stages: users.map((user) => ({ by: { users: [user] } })) });
const [one, two, three] = [of('ada'), of('ada', 'bob'), of('ada', 'bob', 'cleo')];

it.concurrent(
  'a policy of the configuration is applied to runs that wait: at once where a worker runs, else when one comes, and once',
  async () => {
    const first = await startTestBed(refundThenDone, { ...options, policies: { refunds: one } });
    const { taskQueue, client } = first;
    const run = await client.start('configured', 'Refund', { tags: [taskQueue] });
    await run.outcome();
    const mine = { tag: taskQueue };
    const outcomes = async (policy: object, more: object = {}): Promise<readonly string[]> => {
      const page = await client.applyPolicy(policy, { ...mine, ...more });
      return page.outcomes.map(({ outcome, added }) => `${outcome} ${added.flatMap(({ by }) => by.users ?? []).join()}`);
    };
    await eventually(async () => expect(await outcomes(two, { dryRun: true })).toEqual(['asked bob']));
    expect(await run.interrupts()).toMatchObject([{ policy: { stage: { of: 1 } } }]);
    const waitingSince = async (): Promise<unknown> =>
      (await client.interrupts({ tag: [taskQueue] })).interrupts.map((row) => row.waitingSince);
    const [firstAsked] = (await waitingSince()) as [string];
    await first.worker.takeOver({ tools: fixtureTools, policies: { refunds: two } });
    expect(await outcomes(two, { by: 'olga' })).toEqual(['asked bob']);
    await eventually(async () => expect(await run.interrupts()).toMatchObject([{ by: ['ada'], policy: { stage: { of: 2 } } }]));
    expect(await outcomes(two)).toEqual(['unchanged ']);
    await eventually(async () => expect(await waitingSince()).toEqual([firstAsked]));
    await first.worker.shutdown();
    expect(await outcomes(three)).toEqual(['left cleo']);
    const again = await startTestBed(refundThenDone, { ...options, taskQueue, policies: { refunds: three } });
    for (const by of ['ada', 'bob', 'cleo']) {
      await eventually(async () => expect(await run.interrupts()).toMatchObject([{ by: [by], policy: { stage: { of: 3 } } }]));
      await run.approve((await run.interrupts())[0]?.id ?? '', { by });
    }
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    const ends: unknown[] = [];
    for await (const event of run.events({ deltas: false })) if (event.type === 'interrupt-end') ends.push([event.by ?? '', event.answer]);
    expect(ends).toMatchObject([
      ['olga', { type: 'apply-policy' }],
      ['', { type: 'apply-policy' }],
      ...['ada', 'bob', 'cleo'].map((by) => [by, { type: 'approve' }]),
    ]);
    await again.close();
    await client.close();
  },
);

it.concurrent('a policy of the configuration reminds and expires as if a worker had been there', async () => {
  const hurried = policy({ name: 'refunds', tools: ['refund'], stages: [{ by: { users: ['ada'] }, remind: ['1s'], expires: '4s' }] });
  const given = { ...options, policies: { refunds: hurried } };
  const first = await startTestBed(refundThenDone, given);
  const { taskQueue, client } = first;
  const run = await client.start('configured', 'Refund');
  await run.outcome();
  const [question] = (await run.interrupts()) as [Interrupt];
  await first.worker.shutdown();
  await eventually(
    async () => expect(codeOf(await run.approve(question.id, { by: 'eve' }).catch((error: unknown) => error))).toBe('interrupt-expired'),
    40_000,
  );
  const again = await startTestBed(refundThenDone, { ...given, taskQueue });
  expect(await run.result()).toBe('Done.');
  const events = [];
  for await (const event of run.events({ deltas: false })) if ('interruptId' in event) events.push(event);
  const { deadline = 0 } = question;
  expect(events).toMatchObject([
    { type: 'interrupt-remind', at: deadline - 3000 },
    { type: 'interrupt-end', reason: 'deadline', policy: { name: 'refunds' } },
  ]);
  expect(JSON.stringify(await run.transcript())).toContain('Nobody decided in time.');
  await again.close();
  await client.close();
});

it.concurrent('a policy of the configuration that the worker does not have fails the run at its start', async () => {
  const bed = await startTestBed(refundThenDone, {
    ...options,
    policies: { refund: policy({ name: 'refund', tools: ['refund'], stages: [{}] }) },
  });
  const run = await bed.client.start('configured', 'Refund');
  expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'policy-unknown' } });
  await bed.close();
});

it.concurrent('a batch with mixed decisions runs exactly the approved calls, and gives one result for each', async () => {
  const seeds = Array.from({ length: 4 }, (_, position) => `${Math.floor(Math.random() * 1e9)}/${position}`);
  const paid: string[] = [];
  const answer: Answerer = ({ messages }) => {
    const seed = textOf(messages.find(({ role }) => role === 'user') as StoredMessage);
    return messages.length > 1 ? text('Done.') : calls(...randomBatch(seed).calls);
  };
  const bed = await startTestBed(answer, { tools: { ...fixtureTools, refund: payingTool(paid) }, policies: { refunds: ofTwo } });
  const transcripts = await Promise.all(
    seeds.map(async (seed) => {
      const run = await bed.client.start('configured', seed, { by: 'sue' });
      await decideBatch(run, randomBatch(seed));
      expect(await run.outcome()).toMatchObject({ status: 'completed' });
      return run.transcript();
    }),
  );
  expect([seeds, [...paid].sort()]).toEqual([seeds, seeds.flatMap((seed) => approvedIn(randomBatch(seed))).sort()]);
  for (const [position, seed] of seeds.entries()) {
    const outputs = resultsIn(transcripts[position] ?? []).map(({ output }) => JSON.stringify(output));
    expect([seed, outputs]).toEqual([seed, wordsOf(randomBatch(seed)).map((word) => expect.stringContaining(word))]);
  }
  await bed.close();
});
