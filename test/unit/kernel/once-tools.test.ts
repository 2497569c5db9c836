import { z } from 'zod';
import type { Reconciled, ToolCallContext } from 'holdfast/worker';
import { defineTool } from 'holdfast/worker';
import { approval, policy } from 'holdfast/middleware';
import type { LoseCall, TestRun } from 'holdfast/testing';
import { scriptedModel, testRun } from 'holdfast/testing';
import type { AgentMiddleware } from 'holdfast/workflow';
import type { RunEvent } from '../../../contract/events';
import { agentWith, fails, gate, linesOf, logOf, only, startRun, toolOf, transcriptOf, withHook } from '../../support/memory-bed';
import { HoldfastError } from '../../../contract/errors';

const payments: string[] = [];
const loseFirst = (when: 'before' | 'after'): LoseCall => {
  let lost = false;
  return ({ reconcile }) => (lost || reconcile ? undefined : ((lost = true), when));
};

type Reconcile = (key: string) => Reconciled<string>;
function paying(
  reconcile?: Reconcile,
  more: { timeout?: string; execute?: (input: object, call: ToolCallContext) => Promise<string> } = {},
) {
  payments.length = 0;
  return defineTool({
    description: 'Pays once.',
    inputSchema: z.object({ amount: z.number() }),
    effect: 'once',
    execute: ({ amount }, call) => {
      payments.push(call.idempotencyKey);
      return `paid ${amount}`;
    },
    ...(reconcile === undefined
      ? {}
      : { reconcile: (_: { amount: number }, { idempotencyKey }: { idempotencyKey: string }) => reconcile(idempotencyKey) }),
    ...more,
  });
}

const start = (pay: ReturnType<typeof paying>, lose: LoseCall, middleware: readonly AgentMiddleware[] = [], more: { by?: string } = {}) =>
  testRun(agentWith({ tools: ['pay'], middleware }), {
    input: 'Hi',
    model: scriptedModel([{ toolCalls: [{ name: 'pay', input: { amount: 5 } }] }, { text: 'Done.' }]),
    tools: { pay },
    lose,
    ...more,
  });

describe('a once tool whose worker was lost', () => {
  it('is asked whether it happened, under the same key, and its result counts', async () => {
    const keys: string[] = [];
    const run = await start(
      paying((key) => (keys.push(key), { happened: true, result: 'paid 5, it says' })),
      loseFirst('after'),
    );
    expect((await transcriptOf(run))[2]).toBe('tool: paid 5, it says');
    expect(payments).toHaveLength(1);
    expect(keys).toEqual(payments);
    expect((await linesOf(run)).filter((line) => line.startsWith('tool'))).toEqual([
      'tool-start pay',
      'tool-reconcile pay',
      'tool-end pay',
    ]);
  });

  it('runs again when it says that it did not happen, and its end belongs to the call that was made last', async () => {
    const run = await start(
      paying(() => ({ happened: false })),
      loseFirst('before'),
    );
    expect((await transcriptOf(run))[2]).toBe('tool: paid 5');
    expect(payments).toEqual(['default/test/agent/t1/pay.0']);
    const [first, second, end] = (await logOf(run)).filter(({ type }) => type === 'tool-start' || type === 'tool-end');
    expect(first).toMatchObject({ type: 'tool-start', callId: 'call-1-1', address: 'agent/t1/pay.0' });
    expect(first).not.toHaveProperty('again');
    expect(second).toMatchObject({ type: 'tool-start', callId: 'call-1-1', again: true, address: 'agent/t1/pay.0.3' });
    expect(end).toMatchObject({ type: 'tool-end', callId: 'call-1-1', address: 'agent/t1/pay.0.3' });
  });

  it.each([
    ['has no reconcile', undefined],
    ['does not know', (): Reconciled<string> => 'unknown'],
  ])('asks a human when it %s, and takes the human at the word', async (_, reconcile) => {
    const run = await start(paying(reconcile), loseFirst('after'));
    const doubt = only(await run.interrupts());
    expect(doubt).toMatchObject({ kind: 'in-doubt', info: { tool: 'pay', input: { amount: 5 } } });
    await expect(run.resume(doubt.id, { happened: 'maybe' })).rejects.toMatchObject({ code: 'answer-invalid' });
    await expect(run.resume(doubt.id, { happened: true })).rejects.toMatchObject({ code: 'answer-invalid' });
    await run.resume(doubt.id, { happened: true, result: 'paid 5, says Ada' }, { by: 'ada' });
    expect((await transcriptOf(run))[2]).toBe('tool: paid 5, says Ada');
    expect(payments).toHaveLength(1);
  });

  it('is asked again when it is lost again', async () => {
    let losses = 0;
    const run = await start(paying(), ({ reconcile }) => (!reconcile && losses++ < 2 ? 'before' : undefined));
    await run.resume(only(await run.interrupts()).id, { happened: false });
    const second = only(await run.interrupts());
    await run.resume(second.id, { happened: false });
    expect((await transcriptOf(run))[2]).toBe('tool: paid 5');
    expect(payments).toHaveLength(1);
  });

  it.each<readonly [string, AgentMiddleware, readonly object[], readonly string[]]>([
    [
      'a policy asked, in any of its stages, but for whoever started the run',
      policy({
        name: 'payments',
        tools: ['pay'],
        stages: [
          { by: { users: ['ada', 'bob', 'sue'] }, fourEyes: true, need: 2 },
          { by: { roles: ['finance'] }, fourEyes: true, escalate: { after: '1d', to: { users: ['mona'] } } },
        ],
      }),
      [{ by: 'ada' }, { by: 'bob' }, { by: 'fay', roles: ['finance'] }],
      ['ada', 'bob', 'mona'],
    ],
    ['an approval asked', approval({ tools: { pay: { by: ['ada', 'bob'] } } }), [{ by: 'bob' }], ['ada', 'bob']],
  ])('is in doubt for those whom %s', async (_, middleware, answers, by) => {
    const run = await start(paying(), loseFirst('after'), [middleware], { by: 'sue' });
    for (const who of answers) {
      await run.outcome();
      await run.approve(only(await run.interrupts()).id, who);
    }
    await run.outcome();
    const doubt = only(await run.interrupts());
    expect(doubt).toMatchObject({ kind: 'in-doubt', by });
    for (const who of [{}, { by: 'sue', roles: ['finance'] }, { by: 'eve' }])
      await expect(run.resume(doubt.id, { happened: false }, who)).rejects.toMatchObject({ code: 'answer-forbidden' });
    await run.goOnAsNew();
    expect(await run.interrupts()).toEqual([doubt]);
    await run.resume(doubt.id, { happened: true, result: 'paid, says Ada' }, { by: 'ada' });
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect(payments).toHaveLength(1);
  });

  it('keeps the result a human gave through the layers', async () => {
    const layer: AgentMiddleware = { name: 'layer', wrapToolCall: async (call, next) => `seen: ${JSON.stringify(await next(call))}` };
    const run = await start(paying(), loseFirst('after'), [layer]);
    await run.resume(only(await run.interrupts()).id, { happened: true, result: 'yes' });
    expect((await transcriptOf(run))[2]).toBe('tool: seen: "yes"');
  });
});

it.each<[string, LoseCall, string, readonly number[]]>([
  ['is repeated, without anybody being asked', ({ attempt }) => ([undefined, 'before', 'after'] as const)[attempt], 'read', [2, 3]],
  [
    'fails when it is lost again and again, and the model is told',
    () => 'before',
    'error The worker of "fetching" was lost before it ran.',
    [],
  ],
])('a tool that may be repeated %s', async (_, lose, result, attempts) => {
  const made: number[] = [];
  const fetching = toolOf((__, call) => (made.push(call.attempt), 'read'));
  const steps = [{ toolCalls: [{ name: 'fetching', input: {} }] }, { text: 'Done.' }];
  const run = await startRun(agentWith({ tools: ['fetching'] }), steps, { tools: { fetching }, lose });
  expect((await transcriptOf(run))[2]).toBe(`tool: ${result}`);
  expect(made).toEqual(attempts);
});

describe('a once tool of a run that is cancelled while it works', () => {
  const key = 'default/test/agent/t1/pay.0';

  const never: LoseCall = () => undefined;
  const closed = fails('the bank is closed');
  const doubtIn = (log: readonly RunEvent[]) => log.flatMap((event) => (event.type === 'interrupt-start' ? [event.interrupt] : []));

  async function cancelledAtWork(reconcile?: Reconcile) {
    const begun = gate();
    const execute = (_: object, { idempotencyKey, signal }: ToolCallContext): Promise<string> => {
      payments.push(idempotencyKey);
      begun.open();
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('This operation was aborted'))));
    };
    const run = await start(paying(reconcile, { execute }), never);
    await begun.opened;
    await run.cancel();
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
    return run;
  }

  it('has its end in the log when it says that it happened, and is not called again when the run goes on', async () => {
    const run = await cancelledAtWork(() => ({ happened: true, result: 'paid' }));
    expect((await linesOf(run)).slice(-4)).toEqual(['tool-start pay', 'tool-reconcile pay', 'tool-end pay', 'run-end']);
    expect((await logOf(run)).find(({ type }) => type === 'tool-reconcile')).toMatchObject({ said: 'happened' });
    await run.resume();
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(payments).toEqual([key]);
    expect((await transcriptOf(run))[2]).toBe('tool: paid');
  });

  it('is called when the run goes on, under the same key, when it says that it did not happen', async () => {
    const run = await cancelledAtWork(() => ({ happened: false }));
    expect((await logOf(run)).slice(-2)).toMatchObject([{ type: 'tool-reconcile', said: 'not-happened' }, { type: 'run-end' }]);
    void run.resume();
    while (payments.length < 2) await new Promise((resolve) => setImmediate(resolve));
    expect(payments).toEqual([key, key]);
    await run.cancel();
  });

  it.each([
    ['cannot be asked', undefined, { said: 'nothing' }],
    ['does not know', () => 'unknown' as const, { said: 'unknown' }],
    ['fails when it is asked', closed, { said: 'failed', error: 'the bank is closed' }],
  ])('is in doubt in the log when it %s, and a person is asked when the run goes on', async (_, reconcile, said) => {
    const run = await cancelledAtWork(reconcile);
    const log = await logOf(run);
    expect(log.slice(-3).map(({ type }) => type)).toEqual(['interrupt-start', 'interrupt-end', 'run-end']);
    const doubt = only(doubtIn(log));
    const at = Date.UTC(2026, 0, 1);
    expect(doubt).toMatchObject({
      kind: 'in-doubt',
      info: { tool: 'pay', input: { amount: 5 }, key, attempts: 1, firstAt: at, lastAt: at, reconcile: said },
    });
    expect(JSON.stringify(doubt)).toContain('it was told to stop while it worked');
    await run.resume();
    expect(await run.interrupts()).toEqual([doubt]);
    await run.resume(doubt.id, { happened: true, result: 'paid, says the bank' });
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(payments).toEqual([key]);
  });

  it('is waited for also where the code around it was told first, and its result counts when the run goes on', async () => {
    const [begun, door] = [gate(), gate()];
    let calls = 0;
    const pay = paying(undefined, { execute: async () => ((calls += 1), begun.open(), await door.opened, 'paid') });
    const hasty = withHook('hasty', 'wrapToolCall', (call, next, ctx) =>
      Promise.race([next(call), ctx.sleep('1d').then(() => 'too late')]),
    );
    const run = await start(pay, never, [hasty]);
    await begun.opened;
    await run.cancel();
    await new Promise((resolve) => setImmediate(resolve));
    expect((await run.view()).status).toBe('running');
    door.open();
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
    await run.resume();
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect([calls, (await transcriptOf(run))[2]]).toEqual([1, 'tool: paid']);
  });
});

function lacking(times: number): LoseCall {
  let left = times;
  return () => {
    if (left-- > 0) throw new HoldfastError('tool-unknown', 'This worker has no tool "pay".');
    return undefined;
  };
}

async function doubtOf(run: TestRun): Promise<string | undefined> {
  const asked = only(await run.interrupts());
  const { question } = (asked.kind === 'in-doubt' ? asked.info : {}) as { readonly question?: string };
  return /^Nobody knows whether "pay" took effect: (.*) Did it happen\?$/.exec(question ?? '')?.[1];
}

describe('a once tool', () => {
  it('that a worker lacks waits for another one as other tools do, and runs once under its key', async () => {
    const run = await start(paying(), lacking(3));
    for (const wait of ['15s', '1m', '5m']) {
      expect((await run.view()).status).toBe('running');
      expect(payments).toEqual([]);
      await run.advance(wait);
    }
    expect((await run.outcome()).status).toBe('completed');
    expect((await transcriptOf(run))[2]).toBe('tool: paid 5');
    expect(payments).toEqual(['default/test/agent/t1/pay.0']);
  });

  it('that stays away fails the run after the same time as others', async () => {
    const run = await start(paying(), lacking(5));
    for (const wait of ['15s', '1m', '5m', '30m']) {
      expect((await run.view()).status).toBe('running');
      await run.advance(wait);
    }
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'tool-unknown' } });
    expect(payments).toEqual([]);
  });

  it('that took too long is said to have taken too long, and not that its worker was lost', async () => {
    const run = await start(paying(undefined, { timeout: '50ms', execute: () => new Promise<string>(() => undefined) }), () => undefined);
    expect(await doubtOf(run)).toBe('it gave no result within 0.05 s, and may still be at work.');
    const lost = await start(paying(), ({ reconcile }) => (reconcile ? undefined : 'before'));
    expect(await doubtOf(lost)).toBe('its worker was lost.');
  });

  it('of which its worker says why it gave nothing is asked about with those words', async () => {
    const run = await start(paying(), ({ reconcile }) => {
      if (reconcile) return undefined;
      throw new HoldfastError('worker-half-missing', 'This worker has no middleware "audit".');
    });
    expect(await doubtOf(run)).toBe('This worker has no middleware "audit".');
  });
});

it('a once call that code left behind is asked about when it is lost behind the cancel of its run, and the run ends', async () => {
  const [begun, lost] = [gate(), gate()];
  const asked: string[] = [];
  const execute = async (): Promise<never> => {
    begun.open();
    await lost.opened;
    throw new Error('The connection was cut.');
  };
  const pay = paying((key) => (asked.push(key), { happened: true, result: 'paid' }), { execute });
  const hasty = withHook('hasty', 'wrapToolCall', (call, next, ctx) => Promise.race([next(call), ctx.sleep('1d').then(() => 'too late')]));
  const run = await startRun(agentWith({ tools: ['pay'], middleware: [hasty] }), [{ toolCalls: [{ name: 'pay', input: { amount: 5 } }] }], {
    tools: { pay },
  });
  await begun.opened;
  await run.cancel();
  for (let turns = 0; turns < 10; turns++) await new Promise(setImmediate);
  lost.open();
  expect((await run.outcome()).status).toBe('cancelled');
  expect(asked).toHaveLength(1);
});
