import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import type { Run } from '../../client/runs/run';
import type { PolicyOutcome } from '../../contract/service';
import { eventually } from '../support/temporal';
import { logOf } from '../support/server-logs';
import { testServer } from '../support/test-bed';
import type { Child } from '../kill/child';
import { killAll, spawnProgram } from '../kill/child';
import type { PaymentSettings } from '../kill/payment-process';
import type { PaymentServer } from '../kill/payment-server';
import { startPaymentServer } from '../kill/payment-server';
import { programSettings } from './program-settings';
import type { RefundPolicy } from '../kill/refund-policies';
import { refundPolicies } from '../kill/refund-policies';

/* A policy changes while runs wait, and workers are killed during the change. The payment server counts approved payments. */

const taskQueue = `policies-${process.pid}`;
const many = 5;
/** The server reassigns a killed worker's tasks after seconds. */
const patienceMs = 60_000;
let server: PaymentServer;
let client: HoldfastClient;
let worker: Child;

async function startWorker(policy: RefundPolicy): Promise<void> {
  const settings = { ...programSettings(taskQueue), payments: server.url, holds: false, policy };
  worker = spawnProgram('payment-process', settings satisfies PaymentSettings);
  await worker.line('ready');
}

async function killed(policy: RefundPolicy): Promise<void> {
  await worker.murder();
  await startWorker(policy);
}

const all = (runs: readonly Run[], check: (run: Run) => Promise<void>): Promise<unknown> => Promise.all(runs.map(check));

async function startWaiting(kind: string): Promise<readonly Run[]> {
  const script = JSON.stringify([[{ id: 'call', tool: 'refund', amount: 7 }]]);
  const ids = Array.from({ length: many }, (_, n) => `${taskQueue}-${kind}-${n}`);
  const runs = await Promise.all(ids.map((id) => client.start('configuredRefunds', script, { id, tags: [`${taskQueue}-${kind}`] })));
  await all(runs, async (run) => expect(await run.outcome()).toMatchObject({ status: 'waiting' }));
  return runs;
}

async function applied(kind: string, dryRun = false): Promise<readonly PolicyOutcome[]> {
  const outcomes: PolicyOutcome[] = [];
  for (let after: string | undefined; ;) {
    const options = { tag: `${taskQueue}-${kind}`, limit: 3, dryRun, ...(after === undefined ? {} : { after }) };
    const page = await client.applyPolicy(refundPolicies.new, options);
    outcomes.push(...page.outcomes);
    if (page.next === undefined) return outcomes;
    after = page.next;
  }
}

async function answersOf(run: Run): Promise<readonly string[]> {
  return (await logOf(run, { until: 'waiting' })).flatMap((event) => {
    if (event.type !== 'interrupt-end') return [];
    const { type } = event.answer as { readonly type: string };
    return [type === 'approve' ? (event.by ?? 'nobody') : type];
  });
}

async function approve(run: Run, by: string): Promise<void> {
  const [interrupt] = await run.interrupts();
  await run.approve(interrupt?.id ?? '', { by });
}

const paymentsOf = (run: Run): number => server.receipts.filter(({ key }) => key.includes(`/${run.id}/`)).length;

beforeAll(async () => {
  server = await startPaymentServer();
  client = await connect({ server: testServer(), taskQueue });
  await startWorker('old');
});

afterAll(async () => {
  killAll();
  await client.close();
  await server.close();
});

it('a policy that is applied while workers are killed asks each call once what it asks besides, and lets none through', async () => {
  const runs = await startWaiting('killed');
  await killed('new');
  await eventually(async () => {
    expect((await applied('killed', true)).map(({ outcome }) => outcome)).toEqual(runs.map(() => 'asked'));
  });
  const applying = applied('killed');
  const kills = (async () => {
    for (const reached of [1, 3]) {
      await eventually(async () => {
        const asked = await Promise.all(runs.map(answersOf));
        expect(asked.filter((answers) => answers.includes('apply-policy')).length).toBeGreaterThanOrEqual(reached);
      }, patienceMs);
      await killed('new');
    }
  })();
  await Promise.all([applying, kills]);
  for (const outcome of await applied('killed')) expect(outcome.outcome).toBe('unchanged');
  await all(runs, async (run) => {
    expect(await answersOf(run)).toEqual(['apply-policy']);
    expect(await run.interrupts()).toMatchObject([{ policy: { stage: { number: 1, of: 2, name: 'support' }, given: [] } }]);
  });
  await all(runs, (run) => approve(run, 'ada'));
  await worker.murder();
  await startWorker('new');
  await all(runs, async (run) => {
    // On a busy machine, an answer waits until the next worker takes it.
    await eventually(
      async () => expect(await run.interrupts()).toMatchObject([{ by: ['bob'], policy: { stage: { number: 2 } } }]),
      patienceMs,
    );
    expect(paymentsOf(run)).toBe(0);
  });
  await all(runs, (run) => approve(run, 'bob'));
  await all(runs, async (run) => {
    expect(await run.result()).toBe('Done.');
    expect(await answersOf(run)).toEqual(['apply-policy', 'ada', 'bob']);
    expect(paymentsOf(run)).toBe(1);
  });
});

it('an approval at the same moment either comes first, or is one of two', async () => {
  await killed('old');
  const runs = await startWaiting('raced');
  await killed('new');
  const answering = Promise.allSettled(runs.map((run) => approve(run, 'ada')));
  const [outcomes] = await Promise.all([applied('raced'), answering]);
  expect(outcomes.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
  for (const outcome of await applied('raced')) expect(outcome.outcome).toBe('unchanged');
  await all(runs, async (run) => {
    await run.outcome();
    const answers = await answersOf(run);
    const isFirst = answers[0] === 'ada';
    expect(isFirst ? answers : answers.slice(0, 1)).toEqual([isFirst ? 'ada' : 'apply-policy']);
    expect(paymentsOf(run)).toBe(isFirst ? 1 : 0);
    if (isFirst) return;
    for (const by of ['ada', 'bob'].slice(answers.length - 1)) {
      await eventually(async () => expect(await run.interrupts()).toMatchObject([{ by: [by] }]), patienceMs);
      await approve(run, by);
    }
    expect(await run.result()).toBe('Done.');
    expect(await answersOf(run)).toEqual(['apply-policy', 'ada', 'bob']);
    expect(paymentsOf(run)).toBe(1);
  });
});
