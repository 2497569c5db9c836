import { z } from 'zod';
import type { TestRun } from 'holdfast/testing';
import { defineTool } from 'holdfast/worker';
import type { AgentMiddleware } from 'holdfast/workflow';
import { toolCallbacks } from 'holdfast/callbacks';
import { toolRetry } from 'holdfast/middleware';
import { agentUnder, echo, startRun, tools } from '../../support/memory-bed';

const key = 'default/test/agent/t1/echo.0';

async function keysUnder(layers: readonly AgentMiddleware[], failures = 0, isBordered = false): Promise<readonly string[]> {
  const keys: string[] = [];
  const paying = defineTool({
    description: 'Pays.',
    inputSchema: z.object({ text: z.string() }),
    effect: 'idempotent',
    execute: ({ text }, call) => {
      keys.push(call.idempotencyKey);
      if (keys.length <= failures) throw new Error('out of order');
      return text;
    },
  });
  const run: TestRun = await startRun(agentUnder(...layers), [{ toolCalls: [echo('pay')] }, { text: 'Done.' }], {
    tools: { ...tools, echo: paying },
  });
  for (let n = 0; n < 4; n++) {
    await run.advance('5s');
    if (isBordered) await run.goOnAsNew().catch(() => undefined);
    for (const { id } of await run.interrupts()) await run.resume(id, true);
  }
  expect((await run.outcome()).status).toBe('completed');
  return keys;
}

function throwing(times: number, name = 'throwing'): AgentMiddleware {
  return {
    name,
    async wrapToolCall(call, next, ctx) {
      const result = await next(call);
      const n = Number(ctx.runLocal.get(name) ?? 0);
      ctx.runLocal.set(name, n + 1);
      if (n < times) throw Object.assign(new Error('The check failed.'), { code: 'tool-failed' });
      return result;
    },
  };
}

const twice: AgentMiddleware = { name: 'twice', wrapToolCall: async (call, next) => [await next(call), await next(call)] };
const asksAndRetries: AgentMiddleware = {
  name: 'asking',
  async wrapToolCall(call, next, ctx) {
    try {
      return await next(call);
    } catch {
      await ctx.interrupt('Again?');
      return next(call);
    }
  },
};

describe('the idempotency key of a call that is made again', () => {
  it('is the same behind an error of a callback that saw a result', async () => {
    let n = 0;
    const checks = toolCallbacks().registerAfter(() => {
      if (n++ === 0) throw new Error('check failed');
    });
    const retry = toolRetry({ attempts: 3, retryOn: ['callback-failed', 'tool-failed'] });
    expect(await keysUnder([retry, checks.asMiddleware()])).toEqual([key, key]);
  });

  it.each([false, true])('is the same behind an error of an inner wrap that had a result (continued as new: %s)', async (isBordered) => {
    expect(await keysUnder([asksAndRetries, throwing(1)], 0, isBordered)).toEqual([key, key]);
    expect(await keysUnder([toolRetry({ attempts: 4 }), throwing(2)], 1, isBordered)).toEqual([key, key, key, key]);
  });

  it('is the same for each of several calls that an error throws away together', async () => {
    expect(await keysUnder([toolRetry({ attempts: 3 }), throwing(1), twice])).toEqual([key, `${key}#2`, key, `${key}#2`]);
  });

  it('is another one behind a result, also where calls inside of that were made again', async () => {
    expect(await keysUnder([twice, toolRetry({ attempts: 3 }), throwing(1)])).toEqual([key, key, `${key}#2`]);
    expect(await keysUnder([twice, toolRetry({ attempts: 3 })], 1)).toEqual([key, key, `${key}#2`]);
  });

  it('is the same behind an execution that failed, whatever a layer made of the error', async () => {
    const soothes: AgentMiddleware = { name: 'soothes', wrapToolCall: (call, next) => next(call).catch(() => 'not now') };
    expect(await keysUnder([toolRetry({ attempts: 3, retryResult: (result) => result === 'not now' }), soothes], 1)).toEqual([key, key]);
  });

  it('is another one beside a call, also where both come after an error', async () => {
    const beside: AgentMiddleware = {
      name: 'beside',
      wrapToolCall: async (call, next) => next(call).catch(() => Promise.all([next(call), next(call)])),
    };
    expect([...(await keysUnder([beside, throwing(1)]))].sort()).toEqual([key, key, `${key}#2`]);
  });

  it('is another one with another input, and the same again with the first', async () => {
    const changes: AgentMiddleware = {
      name: 'changes',
      async wrapToolCall(call, next) {
        await next(call).catch(() => undefined);
        const other = await next({ ...call, input: { text: 'less' } });
        return [other, await next(call)];
      },
    };
    expect(await keysUnder([changes, throwing(1)])).toEqual([key, `${key}#2`, key]);
  });
});
