import { z } from 'zod';
import { defineTool } from '../../../activities/tools/tools';
import type { Json } from '../../../contract/messages/messages';
import { scriptedModel, testRun } from '../../../testing/index';
import type { TestRun } from '../../../testing/index';
import type { ToolRetryOptions } from '../../../middleware/index';
import { toolRetry } from '../../../middleware/index';
import { agentWith, logOf } from '../../support/memory-bed';

const backoff = { first: '10s', jitter: 0 };
type Effect = 'none' | 'idempotent' | 'once';

function polled(results: readonly Json[], more: { readonly effect?: Effect; readonly retry?: { readonly attempts: number } } = {}) {
  const keys: string[] = [];
  const polled = defineTool({
    description: 'Says how far the job is.',
    inputSchema: z.object({}),
    ...more,
    execute: (_, { idempotencyKey }): Json => {
      keys.push(idempotencyKey);
      return results[Math.min(keys.length, results.length) - 1] ?? null;
    },
  });
  return { keys, tools: { polled } };
}

async function start(options: ToolRetryOptions, made: { readonly tools: object }): Promise<TestRun> {
  const name = Object.keys(made.tools)[0] ?? '';
  const model = scriptedModel([{ toolCalls: [{ name, input: {} }] }, { text: 'Done.' }]);
  const run = await testRun(agentWith({ tools: [name], middleware: [toolRetry({ backoff, ...options })] }), {
    input: 'Hi',
    model,
    tools: made.tools as never,
  });
  await run.outcome();
  return run;
}

const outputOf = async (run: TestRun): Promise<Json | undefined> => {
  const part = (await run.transcript()).flatMap(({ parts }) => parts).find(({ type }) => type === 'tool-result');
  return part?.type === 'tool-result' ? part.output : undefined;
};
const isPending = (result: Json): boolean => result === 'pending';

describe('[check 11] toolRetry by result', () => {
  it('calls a tool again whose result is not what was wanted, with waits, each time as a call of its own', async () => {
    const made = polled(['pending', null, 'ready']);
    const run = await start({ retryResult: (result) => (isPending(result) ? 'It is not ready.' : result === null) }, made);
    expect(made.keys).toHaveLength(1);
    await run.advance('10s');
    expect(made.keys).toHaveLength(2);
    await run.advance('20s');
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect([await outputOf(run), made.keys.length, new Set(made.keys).size]).toEqual(['ready', 3, 3]);
    expect((await logOf(run)).filter(({ type }) => type === 'tool-end')).toHaveLength(1);
  });

  it('goes on behind a continue-as-new where it was', async () => {
    const made = polled(['pending', 'ready']);
    const run = await start({ retryResult: isPending }, made);
    const moving = run.goOnAsNew();
    await run.advance('10s');
    await moving;
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect([await outputOf(run), made.keys.length]).toEqual(['ready', 2]);
  });

  it('lets the last result stand when no call is left, or answers with the reason', async () => {
    const stands = await start({ attempts: 2, retryResult: isPending }, polled(['pending']));
    await stands.advance('1m');
    expect([await stands.outcome(), await outputOf(stands)]).toMatchObject([{ status: 'completed' }, 'pending']);
    const answers = await start(
      {
        attempts: 1,
        retryResult: (result) => (isPending(result) ? 'It is not ready.' : undefined),
        whenExhausted: { answer: ({ code, message }, { name }) => `${name}: ${code}: ${message}` },
      },
      polled(['pending']),
    );
    expect(await outputOf(answers)).toBe('polled: tool-failed: It is not ready.');
  });

  it('counts errors and results together', async () => {
    let calls = 0;
    const mixed = defineTool({
      description: 'Fails, then is not ready.',
      inputSchema: z.object({}),
      execute: (): string => {
        calls += 1;
        if (calls === 1) throw new Error('away');
        return calls === 2 ? 'pending' : 'ready';
      },
    });
    const run = await start({ attempts: 3, retryResult: isPending }, { tools: { mixed } });
    await run.advance('1m');
    expect([await outputOf(run), calls]).toEqual(['ready', 3]);
  });

  it.each<[string, { readonly effect?: Effect; readonly retry?: { readonly attempts: number } }]>([
    ['once', { effect: 'once' }],
    ['with a retry of its own', { retry: { attempts: 2 } }],
  ])('takes whatever a tool %s gives', async (_, more) => {
    const made = polled(['pending', 'ready'], more);
    const run = await start({ retryResult: isPending }, made);
    expect([await outputOf(run), made.keys.length]).toEqual(['pending', 1]);
  });

  it.each<[unknown, string]>([
    ['', 'retryResult of toolRetry returned ""; it returns a reason, true or nothing.'],
    [3, 'retryResult of toolRetry returned 3; it returns a reason, true or nothing.'],
  ])('fails the run for a function that returns %j', async (said, message) => {
    const run = await start({ retryResult: () => said as never }, polled(['ready']));
    const outcome = await run.outcome();
    expect(outcome).toMatchObject({ error: { code: 'hook-failed', message: expect.stringContaining(message) } });
  });

  it('refuses what is no function', () => {
    expect(() => toolRetry({ retryResult: true as never })).toThrow('toolRetry: retryResult must be a function. It is true.');
  });
});
