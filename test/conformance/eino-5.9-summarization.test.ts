import type { LanguageModel } from '../../activities/models/language-model';
import { scriptedModel } from '../../testing/index';
import type { AgentMiddleware, HookContext } from '../../workflows/index';
import type { SummarizationOptions, SummaryFailoverAttempt, TokenCounter } from '../../middleware/index';
import { summarization, summarize } from '../../middleware/index';
import { withUserMessages } from '../../middleware/summarization/user-messages';
import type { Asked } from '../support/compaction-bed';
import { asked, called, failureOf, result, said, user } from '../support/compaction-bed';
import { lineOf } from '../support/memory-bed';

const at =
  (tokens: number): TokenCounter =>
  () =>
    tokens;
const sums = (text = 'The sum.'): LanguageModel => scriptedModel(Array.from({ length: 10 }, () => ({ text })));
const over = (options: Partial<SummarizationOptions> = {}): AgentMiddleware =>
  summarization({ model: 'test/sum', trigger: { tokens: 10 }, tokenCounter: at(11), ...options });
const play = (middleware: AgentMiddleware, sum: LanguageModel = sums(), messages = [user('Hi'), said('Hello.')]): Promise<Asked> =>
  asked([middleware], messages, { models: { sum } });
const textOfRun = ({ lines }: Asked): string => lines.join('\n');

const broken = (calls: string[] = [], text = 'busy'): LanguageModel => ({
  generate: async () => {
    calls.push(text);
    throw new Error(text);
  },
});

it('[eino 199] the model of a failover answers, and its choice gets attempt and last error', async () => {
  const attempts: SummaryFailoverAttempt[] = [];
  const failover = {
    getFailoverModel: (attempt: SummaryFailoverAttempt) => (
      attempts.push(attempt),
      { model: attempt.attempt === 1 ? 'test/second' : 'test/third' }
    ),
  };
  const run = await asked([over({ failover })], [user('Hi')], {
    models: { sum: broken(), second: scriptedModel([{ text: '  ' }]), third: sums('Third.') },
  });
  expect(textOfRun(run)).toContain('Third.');
  expect(attempts).toMatchObject([
    { attempt: 1, lastError: { code: 'model-failed', message: expect.stringContaining('busy') } },
    { attempt: 2, lastError: { code: 'model-response-empty' }, lastResponse: { message: { role: 'assistant' } } },
  ]);
});

it('[eino 199] a failover is used up after its attempts, each with retries of its own', async () => {
  const calls: string[] = [];
  const failover = { maxRetries: 1, getFailoverModel: () => ({ model: 'test/other' }) };
  const run = await asked([over({ failover, retry: { maxRetries: 1, backoff: () => 0 } })], [user('Hi')], {
    models: { sum: broken(calls, 'first'), other: broken(calls, 'other') },
  });
  expect(calls).toEqual(['first', 'first', 'other', 'other']);
  expect(await failureOf(run)).toMatch(/failed to generate summary: exceeds max failover attempts: .*other/);
});

it('[eino 202] real user messages stand in the last block of a summary, and earlier summaries do not', () => {
  const summary = '<all_user_messages>first</all_user_messages> and <all_user_messages>made up</all_user_messages> end';
  const earlier = { ...user('Earlier sum.'), extra: { summarization: 'summary' } };
  expect(withUserMessages(summary, [earlier, user('One'), said('Hm.'), user('Two')], 1000)).toBe(
    '<all_user_messages>first</all_user_messages> and <all_user_messages>\n- One\n- Two\n</all_user_messages> end',
  );
  expect(withUserMessages('No block.', [user('One')], 1000)).toBe('No block.');
});

it('[eino 203] outside of a run an event of a summary fails by name', async () => {
  let kept: HookContext | undefined;
  const keeping: AgentMiddleware = { name: 'keeping', beforeModelRewriteState: (_, ctx) => void (kept = ctx) };
  await asked([keeping], [user('Hi')]);
  const late = summarize({ messages: [user('Hi')], tools: [] }, kept as HookContext, { model: 'test/sum', emitEvents: true });
  await expect(late).rejects.toMatchObject({ code: 'outside-run', message: expect.stringMatching(/^failed to send internal event: /) });
});

it.each([
  ['finalize', { finalize: () => Promise.reject(new Error('no end')) }, 'no end'],
  ['onSummary', { onSummary: () => Promise.reject(new Error('not seen')) }, 'not seen'],
  ['genModelInput', { genModelInput: () => Promise.reject(new Error('no input')) }, 'no input'],
])('[eino 204] an error of %s ends the run, and the messages stay as they were', async (_, options, text) => {
  const run = await play(over(options));
  expect(await failureOf(run)).toBe(`hook-failed: beforeModelRewriteState of middleware "summarization" failed: ${text}`);
  expect(run.messages.map(lineOf)).toEqual(['user: Hi', 'assistant: Hello.']);
});

it('[eino 204] called by hand the same errors come out', async () => {
  const errors: string[] = [];
  const byHand: AgentMiddleware = {
    name: 'by-hand',
    async beforeModelRewriteState(state, ctx) {
      const finalize = (): never => {
        throw new Error('no end');
      };
      await summarize(state, ctx, { model: 'test/sum', finalize }).catch((error: Error) => errors.push(error.message));
      return { messages: await summarize(state, ctx, { model: 'test/sum' }) };
    },
  };
  const { lines } = await play(byHand, sums(), [user('Hi'), called('c1'), result('c1', 'one')]);
  expect(errors).toEqual(['no end']);
  expect(lines).toHaveLength(1);
});
