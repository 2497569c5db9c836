import { z } from 'zod';
import type { Reconciled } from 'holdfast/worker';
import { defineTool } from 'holdfast/worker';
import type { LoseCall } from 'holdfast/testing';
import { scriptedModel, testRun } from 'holdfast/testing';
import type { AgentMiddleware } from 'holdfast/workflow';
import { agentWith, linesOf, logOf, only, transcriptOf } from '../support/memory-bed';

const payments: string[] = [];
const loseFirst = (when: 'before' | 'after'): LoseCall => {
  let lost = false;
  return ({ reconcile }) => (lost || reconcile ? undefined : ((lost = true), when));
};

function paying(reconcile?: (key: string) => Reconciled<string>) {
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
      : { reconcile: (_: { amount: number }, call: { idempotencyKey: string }) => reconcile(call.idempotencyKey) }),
  });
}

const start = (pay: ReturnType<typeof paying>, lose: LoseCall, middleware: readonly AgentMiddleware[] = []) =>
  testRun(agentWith({ tools: ['pay'], middleware }), {
    input: 'Hi',
    model: scriptedModel([{ toolCalls: [{ name: 'pay', input: { amount: 5 } }] }, { text: 'Done.' }]),
    tools: { pay },
    lose,
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
    expect((await linesOf(run)).filter((line) => line.startsWith('tool'))).toEqual(['tool-start pay', 'tool-end pay']);
  });

  it('runs again when it says that it did not happen', async () => {
    const run = await start(
      paying(() => ({ happened: false })),
      loseFirst('before'),
    );
    expect((await transcriptOf(run))[2]).toBe('tool: paid 5');
    expect(payments).toEqual(['default/test/agent/t1/pay.0']);
  });

  it('is shown as started again, and its end belongs to the call that was made last', async () => {
    const run = await start(
      paying(() => ({ happened: false })),
      loseFirst('before'),
    );
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

  it('runs once more when a human says that it did not happen', async () => {
    const run = await start(paying(), loseFirst('before'));
    await run.resume(only(await run.interrupts()).id, { happened: false });
    expect((await transcriptOf(run))[2]).toBe('tool: paid 5');
    expect(payments).toHaveLength(1);
  });

  it('is asked again when it is lost again', async () => {
    let losses = 0;
    const run = await start(paying(), ({ reconcile }) => (!reconcile && losses++ < 2 ? 'before' : undefined));
    await run.resume(only(await run.interrupts()).id, { happened: false });
    const second = only(await run.interrupts());
    await run.resume(second.id, { happened: false });
    expect((await transcriptOf(run))[2]).toBe('tool: paid 5');
  });

  it('gets no doubt from an error of its own', async () => {
    const failing = defineTool({
      description: 'Fails.',
      inputSchema: z.object({ amount: z.number() }),
      effect: 'once',
      execute: (): string => {
        throw new Error('card refused');
      },
    });
    const run = await start(failing, () => undefined);
    expect((await transcriptOf(run))[2]).toBe("tool: error The tool 'pay' failed: card refused");
  });

  it('keeps the result a human gave through the layers', async () => {
    const layer: AgentMiddleware = { name: 'layer', wrapToolCall: async (call, next) => `seen: ${JSON.stringify(await next(call))}` };
    const run = await start(paying(), loseFirst('after'), [layer]);
    await run.resume(only(await run.interrupts()).id, { happened: true, result: 'yes' });
    expect((await transcriptOf(run))[2]).toBe('tool: seen: "yes"');
  });
});

it('a tool that may be repeated is, without anybody being asked', async () => {
  const attempts: number[] = [];
  const fetching = defineTool({
    description: 'Reads.',
    inputSchema: z.object({}),
    execute: (_, call) => (attempts.push(call.attempt), 'read'),
  });
  const run = await testRun(agentWith({ tools: ['fetching'] }), {
    input: 'Hi',
    model: scriptedModel([{ toolCalls: [{ name: 'fetching', input: {} }] }, { text: 'Done.' }]),
    tools: { fetching },
    lose: ({ attempt }) => (attempt === 1 ? 'before' : attempt === 2 ? 'after' : undefined),
  });
  expect((await transcriptOf(run))[2]).toBe('tool: read');
  expect(attempts).toEqual([2, 3]);
});

it('a tool that is lost again and again fails, and the model is told', async () => {
  const fetching = defineTool({ description: 'Reads.', inputSchema: z.object({}), execute: () => 'read' });
  const run = await testRun(agentWith({ tools: ['fetching'] }), {
    input: 'Hi',
    model: scriptedModel([{ toolCalls: [{ name: 'fetching', input: {} }] }, { text: 'Done.' }]),
    tools: { fetching },
    lose: () => 'before',
  });
  expect((await transcriptOf(run))[2]).toBe('tool: error The worker of "fetching" was lost before it ran.');
});
