import { scriptedModel, testRun } from 'holdfast/testing';
import type { LanguageModel, ModelChunk, Json } from 'holdfast/worker';
import type { AgentOptions } from '../../../kernel/define/agent-options';
import type { Tools } from '../../../kernel/define/middleware';
import type { TestRun } from '../../../testing/index';
import { agentWith, gate, logOf } from '../../support/memory-bed';

const taken = { inputTokens: 9, outputTokens: 2 };
const broken = { text: 'Half', error: 'The line is dead.', usage: taken };

type Options = Partial<AgentOptions<Tools, 'agent', Json>>;

const play = async (model: LanguageModel, options: Options = {}, stream = true): Promise<TestRun> =>
  testRun(agentWith({ tools: [], ...options }), { input: 'Hi', model, stream });

const modelOf = (stream: () => AsyncIterable<ModelChunk>): LanguageModel => ({ generate: () => Promise.reject(new Error()), stream });

describe('the tokens of an answer that does not count', () => {
  it('count beside those of the answer that the agent got in its place', async () => {
    const answer = { text: 'Whole.', usage: { inputTokens: 1, outputTokens: 1 } };
    const run = await play(scriptedModel([broken, answer], { stream: true }), { retry: { maxRetries: 1, backoff: () => 1 } });
    await run.advance('1m');
    expect(await run.outcome()).toMatchObject({ text: 'Whole.' });
    expect(await run.usage()).toEqual({ inputTokens: 10, outputTokens: 3 });
  });

  it('count by their last word when somebody cancels the run in the middle', async () => {
    const half = gate();
    async function* stream(): AsyncGenerator<ModelChunk> {
      yield { type: 'usage', usage: { inputTokens: 9, outputTokens: 0 } };
      yield { type: 'text', text: 'Half' };
      yield { type: 'usage', usage: taken };
      half.open();
      await new Promise(() => undefined);
    }
    const run = await play(modelOf(stream));
    await half.opened;
    await run.cancel();
    expect((await run.outcome()).status).toBe('cancelled');
    expect((await logOf(run)).filter(({ type }) => type === 'model-end')).toMatchObject([{ finish: 'cancelled', usage: taken }]);
    expect(await run.usage()).toEqual(taken);
  });

  const refusal = Object.assign(new Error('No.'), { isRetryable: false, usage: taken });
  it.each<[string, LanguageModel, boolean, object]>([
    ['the stream broke and the run failed with it', scriptedModel([broken], { stream: true }), true, { code: 'model-failed' }],
    ['the error of a whole answer says them', { generate: () => Promise.reject(refusal) }, false, { message: 'No.' }],
    ['the answer is none', { generate: async () => ({ parts: 'none' as never, usage: taken }) }, false, { code: 'model-response-invalid' }],
  ])('count when %s', async (_, model, stream, error) => {
    const run = await play(model, {}, stream);
    expect(await run.outcome()).toMatchObject({ status: 'failed', error });
    expect(await run.usage()).toEqual(taken);
  });
});

describe('the tokens of an answer that counts', () => {
  const whole: ModelChunk = { type: 'text', text: 'Whole.' };
  const more = { inputTokens: 9, outputTokens: 4 };

  it.each<[string, readonly ModelChunk[], object]>([
    ['its last word, when that has some', [{ type: 'usage', usage: taken }, whole, { type: 'finish', usage: more }], more],
    ['the word before, when it has none', [whole, { type: 'usage', usage: taken }, { type: 'finish' }], taken],
  ])('are those of %s', async (_, chunks, usage) => {
    const run = await play(
      modelOf(async function* () {
        yield* chunks;
      }),
    );
    await run.outcome();
    expect(await run.usage()).toEqual(usage);
  });
});
