import { z } from 'zod';
import { defineTool } from 'holdfast/worker';
import type { LoseCall } from 'holdfast/testing';
import { scriptedModel, testRun } from 'holdfast/testing';
import { HoldfastError } from '../../../contract/errors';
import { agentWith, only, transcriptOf } from '../../support/memory-bed';

const payments: string[] = [];

function paying(timeout: string, execute: (amount: number) => Promise<string> | string) {
  payments.length = 0;
  return defineTool({
    description: 'Pays once.',
    inputSchema: z.object({ amount: z.number() }),
    effect: 'once',
    timeout,
    execute: ({ amount }, call) => {
      payments.push(call.idempotencyKey);
      return execute(amount);
    },
  });
}

const start = (pay: ReturnType<typeof paying>, lose: LoseCall) =>
  testRun(agentWith({ tools: ['pay'] }), {
    input: 'Hi',
    model: scriptedModel([{ toolCalls: [{ name: 'pay', input: { amount: 5 } }] }, { text: 'Done.' }]),
    tools: { pay },
    lose,
  });

/** As of a worker that a deploy has left without the tool. */
function lacking(times: number): LoseCall {
  let left = times;
  return () => {
    if (left-- > 0) throw new HoldfastError('tool-unknown', 'This worker has no tool "pay".');
    return undefined;
  };
}

describe('[check 12] a once tool', () => {
  it('that a worker lacks waits for another one as other tools do, and runs once under its key', async () => {
    const run = await start(
      paying('60s', (amount) => `paid ${amount}`),
      lacking(3),
    );
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
    const run = await start(
      paying('60s', () => 'paid'),
      lacking(5),
    );
    for (const wait of ['15s', '1m', '5m', '30m']) {
      expect((await run.view()).status).toBe('running');
      await run.advance(wait);
    }
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'tool-unknown' } });
    expect(payments).toEqual([]);
  });

  it('that took too long is said to have taken too long, and not that its worker was lost', async () => {
    const run = await start(
      paying('50ms', () => new Promise<string>(() => undefined)),
      () => undefined,
    );
    expect(only(await run.interrupts())).toMatchObject({
      kind: 'in-doubt',
      info: {
        question: 'Nobody knows whether "pay" took effect: it gave no result within 0.05 s, and may still be at work. Did it happen?',
      },
    });
    const lost = await start(
      paying('60s', () => 'paid'),
      ({ reconcile }) => (reconcile ? undefined : 'before'),
    );
    expect(only(await lost.interrupts())).toMatchObject({
      info: { question: 'Nobody knows whether "pay" took effect: its worker was lost. Did it happen?' },
    });
  });

  it('of which its worker says why it gave nothing is asked about with those words', async () => {
    const run = await start(
      paying('60s', () => 'paid'),
      ({ reconcile }) => {
        if (reconcile) return undefined;
        throw new HoldfastError('worker-half-missing', 'This worker has no middleware "audit".');
      },
    );
    expect(only(await run.interrupts())).toMatchObject({
      info: { question: 'Nobody knows whether "pay" took effect: This worker has no middleware "audit". Did it happen?' },
    });
  });
});
