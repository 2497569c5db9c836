import { codeOf } from '../../contract/errors';
import type { Interrupt } from '../../contract/interrupts';
import { policy } from '../../middleware/index';
import { fixtureTools } from '../fixtures/tools';
import { logOf } from '../support/server-logs';
import { eventually } from '../support/temporal';
import { calls, script, startTestBed, text } from '../support/test-bed';

const refundThenDone = script(calls({ name: 'refund', input: { orderId: '42', amount: 80 } }), text('Done.'));
const options = { tools: fixtureTools };

// Together, because the questions wait for time.

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
    const ends = (await logOf(run)).flatMap((event) => (event.type === 'interrupt-end' ? [[event.by ?? '', event.answer]] : []));
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
  const { deadline = 0 } = question;
  expect((await logOf(run)).filter((event) => 'interruptId' in event)).toMatchObject([
    { type: 'interrupt-remind', at: deadline - 3000 },
    { type: 'interrupt-end', reason: 'deadline', policy: { name: 'refunds' } },
  ]);
  expect(JSON.stringify(await run.transcript())).toContain('Nobody decided in time.');
  await again.close();
  await client.close();
});
