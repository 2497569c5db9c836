import type { CallbackOptions } from '../../middleware/callbacks/index';
import type { HookContext, Json } from '../../workflows/index';
import { agentCallbacks, detachedInvocation, getStateValue, modelCallbacks, toolCallbacks } from '../../middleware/callbacks/index';
import { agentsFor } from '../../workflows/index';

/** Functions cannot enter the sandbox, so a test describes callbacks as data. */
const { defineAgent } = agentsFor();

export interface Step {
  readonly result?: { readonly [field: string]: Json } | null;
  readonly error?: string;
  readonly throws?: string;
  readonly panics?: Json;
}

export interface Chain {
  readonly of: 'model' | 'tool' | 'agent';
  readonly place: 'before' | 'after';
  readonly options?: CallbackOptions;
  readonly steps: readonly Step[];
  readonly args?: { readonly [field: string]: Json };
}

export interface ChainEnd {
  readonly ran: readonly number[];
  readonly result?: Json;
  readonly error?: string;
  readonly keptBeside?: true;
}

const sets = { model: modelCallbacks, tool: toolCallbacks, agent: agentCallbacks };
const call = { toolCallId: 'call-1', toolName: 'echo', arguments: {} };
const request = { instructions: '', messages: [], tools: [], model: 'test/model' };

async function end({ of, place, options, steps, args }: Chain): Promise<ChainEnd> {
  const ran: number[] = [];
  const set = sets[of](options);
  for (const [index, { result, error, throws, panics }] of steps.entries()) {
    const callback = (): unknown => {
      ran.push(index + 1);
      if (panics !== undefined) throw panics;
      if (throws !== undefined) throw new Error(throws);
      return error === undefined ? result : { ...result, error: new Error(error) };
    };
    set[place === 'before' ? 'registerBefore' : 'registerAfter'](callback as never);
  }
  const whole = { ...(of === 'tool' ? call : of === 'model' ? { request } : {}), ...args } as never;
  const outcome = await (place === 'before' ? set.runBefore(whole) : set.runAfter(whole));
  const { error: beside, ...result } = outcome.result ?? {};
  return {
    ran,
    ...(outcome.result === undefined ? {} : { result: result as Json }),
    ...(beside === undefined ? {} : { keptBeside: true }),
    ...(outcome.error === undefined ? {} : { error: outcome.error.message }),
  };
}

const done = { answer: { role: 'assistant' as const, parts: [{ type: 'text' as const, text: 'Done.' }] } };
const note = (ctx: HookContext, data: unknown): void => ctx.sendEvent('note', data as Json);

const base = { description: 'Under test.', instructions: 'Be a test.', model: 'test/model', tools: [] };

export const chained = defineAgent({
  ...base,
  name: 'chained',
  middleware: [
    {
      name: 'chaining',
      async beforeAgent(_, ctx) {
        for (const chain of ctx.values['chains'] as unknown as readonly Chain[]) note(ctx, await end(chain));
        return done;
      },
    },
  ],
});

export const handsValuesOn = defineAgent({
  ...base,
  name: 'handsValuesOn',
  middleware: [
    {
      name: 'handing',
      async beforeAgent(_, ctx) {
        const model = modelCallbacks()
          .registerBefore(() => ({ values: { key: 'model' } }))
          .registerAfter(({ values }) => note(ctx, values['key']));
        const tool = toolCallbacks()
          .registerBefore(() => ({ values: { key: 'tool' } }))
          .registerAfter(({ values }) => note(ctx, values['key']));
        await model.runAfter({ request, values: (await model.runBefore({ request })).result?.values ?? {} });
        await tool.runAfter({ ...call, values: (await tool.runBefore({ ...call })).result?.values ?? {} });
        return done;
      },
    },
  ],
});

export const keepsState = defineAgent({
  ...base,
  name: 'keepsState',
  tools: ['echo'],
  middleware: [
    modelCallbacks()
      .registerBefore(({ invocation }) => {
        const count = getStateValue(invocation, 'model:count', 'number') ?? 0;
        invocation.state.set('model:count', count + 1);
      })
      .asMiddleware(),
    toolCallbacks()
      .registerBefore(({ invocation }) => invocation.state.set('tool:kept', 'a'))
      .registerAfter(async ({ invocation }) => {
        await invocation.ctx?.interrupt('Go on?');
        invocation.state.set('tool:kept', `${String(invocation.state.get('tool:kept'))}b`);
        invocation.state.delete('nowhere');
      })
      .asMiddleware(),
    agentCallbacks()
      .registerAfter(({ invocation }) => {
        const { state, ctx } = invocation;
        const seen = ['model:count', 'tool:kept'].map((key) => state.get(key) ?? null);
        state.delete('tool:kept');
        const typed = getStateValue(invocation, 'model:count', 'string') ?? null;
        ctx?.sendEvent('note', [...seen, typed, state.get('tool:kept') ?? null, detachedInvocation().state.get('model:count') ?? null]);
      })
      .asMiddleware(),
  ],
});
