import type { AgentMiddleware, HookContext, Json } from '../../workflows/index';

export function wordOf({ input }: { readonly input: Json }): string {
  const { say } = (typeof input === 'object' && input !== null ? input : {}) as { say?: unknown };
  return typeof say === 'string' ? say : '';
}

export const racing: AgentMiddleware = {
  name: 'racing',
  async beforeModelRewriteState(_, ctx) {
    await branchOnUsage(ctx);
  },
  async wrapToolCall(call, next, ctx) {
    const asks = (place: string): Promise<Json> => ctx.interrupt<Json>({ place, callId: call.id });
    const after = async (duration: string): Promise<Json> => (await ctx.sleep(duration), 'the time');
    switch (wordOf(call)) {
      case 'race time':
        return Promise.race([asks('race time'), after('40ms')]);
      case 'race person':
        return Promise.race([asks('race person'), after('30d')]);
      case 'race call':
        return Promise.race([next(call), after('30d')]);
      case 'race hidden':
        return Promise.race([ctx.call('act', { say: 'raced' }) as Promise<Json>, after('30d')]);
      case 'race branches': {
        const { first, value } = await ctx.race({
          person: (inner) => inner.interrupt<Json>({ place: 'race branches', callId: call.id }),
          other: (inner) => inner.interrupt<Json>({ place: 'race other', callId: call.id }),
          time: (inner) => inner.sleep('30d'),
        });
        return { first, value: value ?? null, then: await next(call) };
      }
      case 'race sides': {
        const { first, value } = await ctx.race({
          call: async (inner) => [
            (await inner.call('act', { say: 'raced' })) as Json,
            await inner.call('note', { key: call.id, value: 'raced' }),
          ],
          time: (inner) => inner.sleep('30d'),
        });
        return { first, value: (value ?? null) as Json, then: await asks('behind the race') };
      }
      case 'race in time':
        return {
          said: (await ctx.within('30d', (inner) => inner.interrupt<Json>({ place: 'in time', callId: call.id }))) ?? null,
        };
      case 'race too late': {
        const said = await ctx.within('40ms', async (inner) => {
          const first = await inner.interrupt<Json>({ place: 'too late', callId: call.id });
          inner.sendEvent('never', { callId: call.id });
          return first;
        });
        return { said: said ?? null, then: await next(call) };
      }
      case 'race caught':
        return ctx
          .race({
            fails: (inner) => inner.sleep('20ms').then(() => Promise.reject(new Error('the branch is broken'))),
            person: (inner) => inner.within('1d', (inmost) => inmost.interrupt<Json>({ place: 'race caught', callId: call.id })),
          })
          .then(
            ({ first }) => ({ first }),
            (error: unknown) => ({ caught: (error as Error).message }),
          );
      case 'race then ask':
        return { first: await Promise.race([after('20ms'), after('30d')]), then: await asks('race then ask') };
      case 'count': {
        await branchOnUsage(ctx);
        return { counted: await asks('count'), then: await next(call) };
      }
      default:
        return next(call);
    }
  },
};

export async function branchOnUsage(ctx: HookContext): Promise<void> {
  if (ctx.usage.inputTokens % 2 === 0) await ctx.sleep('1ms');
  else await ctx.parse('act', { say: 'x' });
}

export const late: AgentMiddleware = {
  name: 'late',
  async wrapToolCall(call, next, ctx) {
    const asks = (place: string, options: { deadline?: string; onDeadline?: Json; by?: readonly string[] } = {}): Promise<Json> =>
      ctx.interrupt<Json>({ place, callId: call.id }, options);
    switch (wordOf(call)) {
      case 'ask late':
        return asks('late', { deadline: '10s' });
      case 'ask late default':
        return { said: await asks('late', { deadline: '10s', onDeadline: 'nobody' }), then: await next(call) };
      case 'race late':
        return Promise.race([asks('race late', { deadline: '10s', onDeadline: 'nobody' }), ctx.sleep('30d').then(() => 'the time')]);
      case 'ask stages': {
        for (const who of ['ada', 'bob']) {
          const answer = await asks(`stage of ${who}`, { deadline: '10s', onDeadline: null, by: [who] });
          if (answer !== null) return { who, answer };
        }
        return { last: await asks('last stage') };
      }
      case 'ask before':
        return { first: await asks('before'), then: await next(call) };
      default:
        return next(call);
    }
  },
};
