import { z } from 'zod';
import { defineTool } from 'holdfast/worker';
import type { ScriptedStep, TestRun } from 'holdfast/testing';
import { scriptedModel } from 'holdfast/testing';
import type { Agent, AgentMiddleware, Json, WorkflowTool } from 'holdfast/workflow';
import { HistoryFold } from '../../../contract/record/fold';
import type { MemoryRun } from '../../../testing/memory/run';
import { agentUnder, agentWith, echo, logOf, startRun, toolOf } from '../../support/memory-bed';
import { byHand } from '../../support/team-bed';

const once: readonly ScriptedStep[] = [{ toolCalls: [echo('a')] }, { text: 'Done.' }];

const twice: AgentMiddleware = {
  name: 'twice',
  wrapToolCall: async (call, next, ctx) => {
    await next(call);
    await ctx.interrupt('Again?');
    await next(call);
    await ctx.interrupt('And again?');
    return next(call);
  },
};

const own: WorkflowTool = {
  name: 'own',
  description: 'Asks.',
  inputSchema: { type: 'object' },
  execute: async (_, ctx) => ctx.interrupt<Json>('Sure?'),
};

const broken = (): ScriptedStep => ({ error: 'Out of order.' });

type AnyAgent = Agent<string, Json, unknown>;

const scenes: readonly [string, AnyAgent, readonly ScriptedStep[]][] = [
  ['a second `next` of a wrap', agentUnder(twice), once],
  ['retries of a model', agentWith({ retry: { maxRetries: 3, backoff: () => 60_000 } }), [broken(), broken(), ...once]],
  [
    'other models',
    agentWith({
      retry: { maxRetries: 1, backoff: () => 60_000 },
      failover: { maxRetries: 1, shouldFailover: () => true, getFailoverModel: () => ({ model: 'test/other' }) },
    }),
    [broken(), broken(), broken(), { text: 'Done.' }],
  ],
  [
    'a workflow tool that asks',
    agentWith({ tools: [own], middleware: [twice] }),
    [{ toolCalls: [{ name: 'own', input: {} }] }, { text: 'Done.' }],
  ],
  [
    'models that code calls by itself',
    byHand('agent', async function* (_, ctx) {
      for (let n = 0; n < 3; n++) {
        await ctx.model('test/model', { messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }] });
        await ctx.call('echo' as never, { text: 'a' });
        await ctx.interrupt(n);
      }
      yield { output: 'Done.' };
    }),
    [{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }],
  ],
];

async function addressesOf(agent: AnyAgent, steps: readonly ScriptedStep[], isBordered: boolean): Promise<readonly string[]> {
  const run: TestRun = await startRun(agent, scriptedModel(steps));
  for (let rounds = 0; rounds < 12; rounds++) {
    const [open] = await run.interrupts();
    if (isBordered) await run.goOnAsNew();
    if (open !== undefined) await run.resume(open.id, 'yes');
    else await run.advance('1m');
  }
  expect(await run.outcome()).toMatchObject({ status: 'completed' });
  const log = await logOf(run);
  const { facts } = (run as unknown as { readonly run: MemoryRun }).run;
  // A reader may begin with any continued execution.
  const late = new HistoryFold();
  const seen = facts.slice(facts.map(({ kind }) => kind).lastIndexOf('start')).flatMap((fact) => late.add(fact));
  const starts = (events: typeof log): typeof log => events.filter(({ type }) => type === 'tool-start');
  expect(starts(seen)).toEqual(starts(log.slice(seen[0]?.offset)));
  return [
    ...facts.flatMap((fact) => ('activityId' in fact ? [fact.activityId] : [])),
    ...log.flatMap((event) => (event.type === 'tool-start' && event.tool === 'own' ? [event.address] : [])),
  ];
}

it.each(scenes)(
  'addresses of calls are each one of its own, and the same with a continue-as-new between them: %s',
  async (_, agent, steps) => {
    const addresses = await addressesOf(agent, steps, true);
    expect(addresses.filter((address, position) => addresses.indexOf(address) !== position)).toEqual([]);
    expect(addresses.length).toBeGreaterThan(2);
    expect(addresses).toEqual(await addressesOf(agent, steps, false));
  },
);

describe('idempotency keys of a call that a wrap hands on again', () => {
  const keys: string[] = [];
  let failures = 0;
  const pay = defineTool({
    description: 'Pays.',
    inputSchema: z.object({ amount: z.number() }),
    effect: 'idempotent',
    execute: ({ amount }, call) => {
      keys.push(`${amount} ${call.idempotencyKey.split('/').at(-1) ?? ''}`);
      if (failures-- > 0) throw new Error('out of order');
      return amount;
    },
  });
  beforeEach(() => (keys.length = 0));

  async function played(layer: AgentMiddleware, failing = 0, isBordered = false): Promise<readonly string[]> {
    failures = failing;
    const run = await startRun(
      agentWith({ tools: ['pay'], middleware: [layer] }),
      [{ toolCalls: [{ name: 'pay', input: { amount: 1 } }] }, { text: 'Done.' }],
      { tools: { pay } },
    );
    for (let rounds = 0; rounds < 6; rounds++) {
      const [open] = await run.interrupts();
      if (isBordered) await run.goOnAsNew();
      if (open !== undefined) await run.resume(open.id, true);
      await run.advance('1m');
    }
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    return keys;
  }
  const wrap = (wrapToolCall: NonNullable<AgentMiddleware['wrapToolCall']>): AgentMiddleware => ({ name: 'layer', wrapToolCall });
  const costing = (amount: number) => ({ input: { amount } });

  it.each([false, true])(
    'are others for another input, also after a failure, and one for each input (continued as new: %s)',
    async (isBordered) => {
      const layer = wrap(async (call, next, ctx) => {
        const tried = async (amount: number): Promise<void> => {
          await next({ ...call, ...costing(amount) }).catch(() => undefined);
          await ctx.interrupt('Go on?');
        };
        for (const amount of [1, 2, 1, 2, 2]) await tried(amount);
        return null;
      });
      expect(await played(layer, 3, isBordered)).toEqual(['1 pay.0', '2 pay.0#2', '1 pay.0', '2 pay.0#2', '2 pay.0#3']);
    },
  );

  it.each([false, true])(
    'are others for a call that had a result: it is meant to be made once more (continued as new: %s)',
    async (isBordered) => {
      const layer = wrap(async (call, next, ctx) => {
        await next(call);
        await ctx.interrupt('Again?');
        return next(call);
      });
      expect(await played(layer, 0, isBordered)).toEqual(['1 pay.0', '1 pay.0#2']);
    },
  );

  it('are one for a call that asks a person in between, on both sides of a continue-as-new', async () => {
    const asking = toolOf(
      (_, call) => {
        keys.push(call.idempotencyKey.split('/').at(-1) ?? '');
        if (call.resumed === undefined) call.interrupt('Sure?');
        return 'paid';
      },
      { effect: 'idempotent' },
    );
    const run = await startRun(
      agentWith({ tools: ['asking'], middleware: [wrap(async (call, next) => (await next(call), next(call)))] }),
      [{ toolCalls: [{ name: 'asking', input: {} }] }, { text: 'Done.' }],
      { tools: { asking } },
    );
    for (let asked = 0; asked < 2; asked++) {
      const [open] = await run.interrupts();
      await run.goOnAsNew();
      await run.resume(open?.id ?? '', true);
    }
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect(keys).toEqual(['asking.0', 'asking.0', 'asking.0#2', 'asking.0#2']);
  });
});
