import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import type { Run } from '../../client/runs/run';
import type { Json } from '../../contract/messages/messages';
import { logOf } from '../support/server-logs';
import { eventually } from '../support/temporal';
import { testServer } from '../support/test-bed';
import type { Child, Payment, Step, WorkerSettings } from './child';
import { killAll, spawnWorker } from './child';
import { programSettings } from './program-settings';

const step = (tool: string, input: Json): Step => ({ calls: [{ tool, input }] });
const lookup = step('lookupOrder', { orderId: '42' });
const refund = step('refund', { orderId: '42', amount: 20 });
const pay = step('pay', { amount: 7 });

const scripts = {
  model: [lookup, { ...refund, hold: true }, pay],
  refund: [lookup, step('refund', { orderId: '42', amount: 20, hold: true }), pay],
  pay: [lookup, refund, step('pay', { amount: 7, hold: true })],
  parallel: [
    {
      calls: [lookup, step('refund', { orderId: '1', amount: 1, hold: true }), step('pay', { amount: 2, hold: true })].flatMap(
        ({ calls }) => calls,
      ),
    },
    refund,
  ],
  guarded: [lookup, step('refund', { orderId: '42', amount: 80 })],
} satisfies Record<string, readonly Step[]>;
type Script = keyof typeof scripts;
const scriptNames = Object.keys(scripts) as Script[];

const heldIn: Record<Exclude<Script, 'guarded'>, string> = {
  model: 'in model:2',
  refund: 'in tool:refund',
  pay: 'in tool:pay',
  parallel: 'in tool:pay',
};

interface Place {
  readonly settings: WorkerSettings;
  readonly client: HoldfastClient;
  start(script: Script): Promise<Run>;
  paidBy(run: Run): readonly number[];
}

const clients: HoldfastClient[] = [];
let places = 0;

function settingsOf(taskQueue: string): WorkerSettings {
  const settings = programSettings(taskQueue);
  return { ...settings, payments: join(settings.bundles, '..', 'payments') };
}

async function place(name: string, own: Partial<WorkerSettings> = {}): Promise<Place> {
  const settings = { ...settingsOf(`kill-${process.pid}-${name}-${places++}`), ...own };
  const client = await connect({ server: testServer(), taskQueue: settings.taskQueue });
  clients.push(client);
  return {
    settings,
    client,
    start: (script) =>
      client.start(script === 'guarded' ? 'guarded' : 'plain', JSON.stringify(scripts[script]), { id: `${settings.taskQueue}-${script}` }),
    paidBy: (run) => paymentsIn(settings.payments).flatMap(({ key, amount }) => (key.startsWith(`default/${run.id}/`) ? [amount] : [])),
  };
}

function paymentsIn(file: string): readonly Payment[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Payment);
}

interface Recorded {
  readonly events: readonly { readonly type: string }[];
  readonly transcript: Json;
}

/** Drops ids and times, which differ between runs. */
async function record(run: Run): Promise<Recorded> {
  const events = (await logOf(run)).map(({ time: _, ...event }) => event);
  const { messages, usage, output, status } = await run.view();
  const ids = new Map<string, string>();
  const text = JSON.stringify({ transcript: { messages, usage, output, status }, events }).split(run.id).join('RUN');
  return JSON.parse(
    text.replace(/"deadline":\d+/g, '"deadline":0').replace(/"id":"([0-9a-f-]{36})"/g, (_match, id: string) => {
      if (!ids.has(id)) ids.set(id, `message-${ids.size}`);
      return `"id":"${ids.get(id)}"`;
    }),
  ) as Recorded;
}

async function untilWaiting(run: Run): Promise<string> {
  const outcome = await run.outcome();
  if (outcome.status !== 'waiting') throw new Error(`The run is ${JSON.stringify(outcome)}.`);
  return outcome.interrupts[0]?.id ?? '';
}

async function untilCompleted(run: Run): Promise<Recorded> {
  const outcome = await run.outcome();
  if (outcome.status !== 'completed') throw new Error(`The run is ${JSON.stringify(outcome)}.`);
  return record(run);
}

let control: Record<Script, Recorded>;

beforeAll(async () => {
  const undisturbed = await place('control');
  const worker = spawnWorker(undisturbed.settings);
  await worker.line('ready');
  const recorded = await Promise.all(
    scriptNames.map(async (script) => {
      const run = await undisturbed.start(script);
      if (script === 'guarded') await run.approve(await untilWaiting(run), { by: 'ada' });
      return [script, await untilCompleted(run)] as const;
    }),
  );
  control = Object.fromEntries(recorded) as Record<Script, Recorded>;
  expect(await worker.terminate()).toBe(0);
});

afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  killAll();
});

async function startHeld(at: Place, held: readonly Exclude<Script, 'guarded'>[]): Promise<{ worker: Child; runs: Record<string, Run> }> {
  const worker = spawnWorker({ ...at.settings, hold: true });
  await worker.line('ready');
  const runs: Record<string, Run> = {};
  for (const script of held) runs[script] = await at.start(script);
  await Promise.all(held.map((script) => worker.line(`${heldIn[script]} ${runs[script]?.id}`)));
  return { worker, runs };
}

function saidOf(run: Run, start: string, ...workers: readonly Child[]): readonly string[] {
  return workers.flatMap(({ lines }) => lines.filter((line) => line.startsWith(start) && line.endsWith(` ${run.id}`)));
}

describe('when the only worker process is killed in the middle of calls', () => {
  let at: Place;
  let runs: Record<string, Run>;
  let second: Child;
  beforeAll(async () => {
    at = await place('killed');
    const first = await startHeld(at, ['model', 'refund', 'pay', 'parallel']);
    runs = first.runs;
    const guarded = await at.start('guarded');
    runs['guarded'] = guarded;
    const id = await untilWaiting(guarded);
    await first.worker.murder();
    expect(await guarded.interrupts()).toMatchObject([{ id, tool: 'refund' }]);
    second = spawnWorker(at.settings);
    await second.line('ready');
  });
  afterAll(() => second.terminate());

  const runOf = (script: Script): Run => runs[script] as Run;

  it('makes a model call again and goes on as if nothing had been', async () => {
    expect(await untilCompleted(runOf('model'))).toEqual(control.model);
    expect(at.paidBy(runOf('model'))).toEqual([20, 7]);
    expect(saidOf(runOf('model'), 'in model', second)).not.toContain(`in model:1 ${runOf('model').id}`);
  });

  it('makes an idempotent tool call again under the same key', async () => {
    expect(await untilCompleted(runOf('refund'))).toEqual(control.refund);
    expect(at.paidBy(runOf('refund'))).toEqual([20, 7]);
    expect(saidOf(runOf('refund'), 'in tool:refund', second)).toHaveLength(1);
  });

  it('does not make a once tool call again that took effect', async () => {
    const { events, ...rest } = await untilCompleted(runOf('pay'));
    const told = events.filter(({ type }) => type === 'tool-reconcile');
    expect(told).toMatchObject([{ tool: 'pay', said: 'happened' }]);
    const others = events.filter((event) => !told.includes(event)).map((event, offset) => ({ ...event, offset }));
    expect({ ...rest, events: others }).toEqual(control.pay);
    expect(at.paidBy(runOf('pay'))).toEqual([20, 7]);
    expect(saidOf(runOf('pay'), 'in tool:pay', second)).toEqual([]);
    expect(saidOf(runOf('pay'), 'in reconcile', second)).toHaveLength(1);
  });

  it('puts the results of parallel calls where they belong', async () => {
    expect((await untilCompleted(runOf('parallel'))).transcript).toEqual(control.parallel.transcript);
    expect([...at.paidBy(runOf('parallel'))].sort()).toEqual([1, 2, 20]);
  });

  it('takes the decision about an approval that was open', async () => {
    const run = runOf('guarded');
    await run.approve(await untilWaiting(run), { by: 'ada' });
    expect(await untilCompleted(run)).toEqual(control.guarded);
    expect(at.paidBy(run)).toEqual([80]);
    expect(saidOf(run, 'in model', second)).toEqual([`in model:3 ${run.id}`]);
  });
});

it('a run that is cancelled after its only worker process was killed ends as cancelled, and makes the call again when the run goes on', async () => {
  const at = await place('cancelled');
  const { worker, runs } = await startHeld(at, ['model', 'refund']);
  await worker.murder();
  const cancelled = Object.entries(runs) as [Script, Run][];
  await Promise.all(cancelled.map(([, run]) => run.cancel()));
  const second = spawnWorker(at.settings);
  await second.line('ready');
  for (const [script, run] of cancelled) {
    expect(await run.outcome()).toMatchObject({ status: 'cancelled' });
    await run.resume();
    expect((await untilCompleted(run)).transcript).toEqual(control[script].transcript);
    expect(at.paidBy(run)).toEqual([20, 7]);
  }
  await second.terminate();
});

it('a run that is cancelled after the worker of a reconcile was killed asks the tool again, and no person', async () => {
  const at = await place('reconciled');
  const { worker, runs } = await startHeld(at, ['pay']);
  const run = runs['pay'] as Run;
  await worker.murder();
  const second = spawnWorker({ ...at.settings, holdReconcile: true });
  await second.line(`in reconcile ${run.id}`);
  await second.murder();
  await run.cancel();
  const third = spawnWorker(at.settings);
  await third.line('ready');
  expect(await run.outcome()).toMatchObject({ status: 'cancelled' });
  expect((await logOf(run)).filter(({ type }) => type === 'tool-reconcile' || type === 'interrupt-start')).toMatchObject([
    { type: 'tool-reconcile', said: 'happened' },
  ]);
  await run.resume();
  expect((await untilCompleted(run)).transcript).toEqual(control.pay.transcript);
  expect(at.paidBy(run)).toEqual([20, 7]);
  await third.terminate();
});

describe('when a worker process is told to stop, as at a deploy', () => {
  const scriptsAtDeploy = ['model', 'refund', 'pay', 'parallel'] as const;

  it('ends the calls that run, and another one goes on', async () => {
    const at = await place('deploy');
    const { worker: first, runs } = await startHeld(at, scriptsAtDeploy);
    const second = spawnWorker(at.settings);
    await second.line('ready');
    const ended = first.terminate();
    await first.line('draining');
    first.release();
    expect(await ended).toBe(0);
    for (const script of scriptsAtDeploy) {
      const run = runs[script] as Run;
      expect((await untilCompleted(run)).transcript).toEqual(control[script].transcript);
      expect([...at.paidBy(run)].sort()).toEqual(script === 'parallel' ? [1, 2, 20] : [20, 7]);
      expect(saidOf(run, heldIn[script], first, second)).toHaveLength(1);
      expect(saidOf(run, 'in reconcile', second)).toEqual([]);
    }
    expect(await second.terminate()).toBe(0);
  });

  it('hands over what does not end in the grace time, and waits for once calls until their own time is up', async () => {
    const at = await place('grace', { graceMs: 300, payTimeout: '4s' });
    const { worker: first, runs } = await startHeld(at, scriptsAtDeploy);
    const second = spawnWorker(at.settings);
    await second.line('ready');
    const ended = first.terminate();
    for (const script of scriptsAtDeploy) {
      const run = runs[script] as Run;
      expect((await untilCompleted(run)).transcript).toEqual(control[script].transcript);
      expect([...at.paidBy(run)].sort()).toEqual(script === 'parallel' ? [1, 2, 20] : [20, 7]);
    }
    expect(saidOf(runs['pay'] as Run, 'in tool:pay', first, second)).toHaveLength(1);
    expect(await ended).toBe(0);
    expect(await second.terminate()).toBe(0);
  });
});

it('goes on where it was when everything was killed, the server included', async () => {
  const shared = settingsOf('holdfast');
  const settings: WorkerSettings = { ...shared, serverDirectory: join(shared.bundles, '..', 'server') };
  const first = spawnWorker(settings);
  const [pid, address] = serverIn(await first.line('server'));
  await first.line('ready');
  const before = await connect({ address });
  const started = await before.start('guarded', JSON.stringify(scripts.guarded), { id: 'survivor' });
  const id = await untilWaiting(started);
  await before.close();
  process.kill(pid, 'SIGKILL');
  await first.murder();

  const second = spawnWorker(settings);
  const [, newAddress] = serverIn(await second.line('server'));
  const after = await connect({ address: newAddress });
  const run = after.run('survivor');
  // The server was killed before the list was up to date.
  await eventually(async () =>
    expect((await after.interrupts()).interrupts).toMatchObject([{ runId: 'survivor', interrupt: { id, tool: 'refund' } }]),
  );
  expect(await untilWaiting(run)).toBe(id);
  await second.line('ready');
  await run.approve(id, { by: 'ada' });
  expect(await untilCompleted(run)).toEqual(control.guarded);
  expect(paymentsIn(settings.payments)).toHaveLength(1);
  await after.close();
  expect(await second.terminate()).toBe(0);
});

function serverIn(line: string): [number, string] {
  const [, pid = '', address = ''] = line.split(' ');
  return [Number(pid), address];
}
