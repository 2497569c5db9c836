import type { LanguageModel } from '../../activities/models/language-model';
import type { ScriptedRequest } from '../../testing/index';
import { scriptedModel } from '../../testing/index';
import { toolCallsOf } from '../../contract/messages/messages';
import type { AgentMiddleware, Json, Message } from '../../workflows/index';
import type { SummarizationOptions } from '../../middleware/index';
import { chainFinalizers, estimateTokens, preserveSkills, summarization, summarize } from '../../middleware/index';
import { defaultBackoff } from '../../middleware/summarization/attempts';
import { trimmedUserMessage, withUserMessages } from '../../middleware/summarization/user-messages';
import type { Asked } from '../support/compaction-bed';
import { asked, called, failureOf, result, said, system, user } from '../support/compaction-bed';
import { lineOf } from '../support/memory-bed';

const sums = (...texts: readonly string[]): ReturnType<typeof scriptedModel> =>
  scriptedModel((texts.length === 0 ? ['The sum.'] : texts).map((text) => (text === 'error' ? { error: 'busy' } : { text })));
const over = (options: Partial<SummarizationOptions> = {}): AgentMiddleware =>
  summarization({ model: 'test/sum', trigger: { tokens: 1 }, tokenCounter: () => 2, ...options });
const play = (
  options: Partial<SummarizationOptions>,
  sum: LanguageModel = sums(),
  messages = [user('Hi'), said('Hello.')],
): Promise<Asked> => asked([over(options)], messages, { models: { sum } });
const linesOf = (request: ScriptedRequest | undefined): readonly string[] => (request?.messages ?? []).map(lineOf);

it('[eino 269] more messages than the trigger are summarized', async () => {
  const middleware = summarization({ model: 'test/sum', trigger: { messages: 1 } });
  const { lines } = await asked([middleware], [user('Hi'), said('Hello.')], { models: { sum: sums() } });
  expect(lines).toHaveLength(1);
});

it('[eino 269] below both bounds nothing is summarized, and a bound that is left out is none', async () => {
  const messages = [user('Hi'), said('Hello.')];
  for (const trigger of [{ messages: 3, tokens: 1000 }, { messages: 3 }, { tokens: 1000 }]) {
    const { lines } = await asked([summarization({ model: 'test/sum', trigger })], messages);
    expect(lines).toHaveLength(2);
  }
});

it.each([
  [160_000, 1],
  [160_001, 0],
])('[eino 269] without a trigger %i tokens leave %i messages as they are', async (tokens, untouched) => {
  const middleware = summarization({ model: 'test/sum', tokenCounter: () => tokens });
  const { lines } = await asked([middleware], [user('Hi')], { models: { sum: sums() } });
  expect(lines.filter((line) => line === 'user: Hi')).toHaveLength(untouched);
});

it.each([
  ['throws', () => thrown(), /getFailoverModel failed at attempt 1: no choice/],
  ['gives no model', () => ({}), /getFailoverModel returned no model at attempt 1/],
  ['gives nothing', () => undefined, /getFailoverModel returned no model at attempt 1/],
  ['gives no messages', () => ({ model: 'test/other', messages: [] }), /getFailoverModel returned no messages at attempt 1/],
])('[eino 274] a choice that %s is an error', async (_, getFailoverModel, message) => {
  expect(await failureOf(await play({ failover: { getFailoverModel: getFailoverModel as never } }, sums('error')))).toMatch(message);
});

function thrown(): never {
  throw new Error('no choice');
}

it('[eino 276] the default wait begins at a second and stays under fifteen', () => {
  expect(defaultBackoff(1, () => 0)).toBe(1000);
  for (const random of [0, 0.5, 0.999]) {
    expect(defaultBackoff(8, () => random)).toBeGreaterThanOrEqual(10_000);
    expect(defaultBackoff(8, () => random)).toBeLessThan(15_000);
  }
});

it('[eino 277] the whole request can be made anew', async () => {
  const sum = sums();
  const genModelInput = (messages: readonly Message[]) => ({ instructions: 'Be short.', messages: [user(`Sum up ${messages.length}.`)] });
  await play({ genModelInput }, sum);
  expect(sum.requests[0]).toMatchObject({ instructions: 'Be short.' });
  expect(linesOf(sum.requests[0])).toEqual(['user: Sum up 2.']);
});

it('[eino 277] an instruction of the user is the last message', async () => {
  const sum = sums();
  await play({ userInstruction: 'In one line.' }, sum);
  expect(linesOf(sum.requests[0])).toEqual(['user: Hi', 'assistant: Hello.', 'user: In one line.']);
});

it('[eino 277] a request that is none ends the run', async () => {
  const odd = () => ({ instructions: 'x', messages: [] });
  expect(await failureOf(await play({ genModelInput: odd }))).toMatch(/^hook-failed: genModelInput of summarization returned no request/);
  expect(await failureOf(await play({ genModelInput: thrown }))).toMatch(/no choice/);
});

it('[eino 279] a user message is dropped without tokens or text, and shortened where it is long', () => {
  expect(trimmedUserMessage('Hi', 0)).toBeUndefined();
  expect(trimmedUserMessage('', 10)).toBeUndefined();
  expect(trimmedUserMessage('Hi', 10)).toBe('Hi');
  expect(trimmedUserMessage('x'.repeat(3000), 10_000)).toBe(`${'x'.repeat(2000)}…`);
  expect(trimmedUserMessage('😀'.repeat(10), 1)).toBe('😀😀…');
  const long = withUserMessages('<all_user_messages></all_user_messages>', [user('a'.repeat(400)), user('newest')], 20);
  expect(long).toBe(`<all_user_messages>\n- ${'a'.repeat(72)}…\n- newest\n</all_user_messages>`);
});

it('[eino 281] the path of the transcript stands in the summary', async () => {
  expect((await play({ transcriptPath: 'runs/42.txt' })).lines[0]).toContain('is in runs/42.txt.');
});

it('[eino 282] events tell of a summary only where they are asked for', async () => {
  expect((await play({})).log.filter(({ type }) => type === 'custom')).toEqual([]);
});

it('[eino 282] without events a summary needs no run', async () => {
  const ctx = { language: 'en', model: async () => ({ message: said('By hand.') }) };
  const messages = await summarize({ messages: [user('Hi')], tools: [] }, ctx as never, { model: 'test/sum' });
  expect(messages.map(lineOf).join('')).toContain('By hand.');
});

it('[eino 283] a chain of nothing, its errors and a finalizer that returns nothing are errors', async () => {
  expect(() => chainFinalizers()).toThrow(expect.objectContaining({ code: 'agent-invalid' }));
  expect(await failureOf(await play({ finalize: chainFinalizers(thrown) }))).toMatch(/no choice/);
  expect(await failureOf(await play({ finalize: chainFinalizers(() => undefined as never) }))).toMatch(
    /Finalizer 1 of the chain returned no messages/,
  );
  const empty = { messages: [], summary: user(' '), result: [] };
  await expect(chainFinalizers(({ result: made }) => made)(empty, {} as never)).rejects.toThrow('empty summary');
});

const skill = (name: string, id: string): Message => {
  const message = called(`skill:${id}`);
  return { ...message, parts: message.parts.map((part) => ({ ...part, input: { skill: name } as Json })) };
};
const loaded = (name: string, id: string, content: string): readonly Message[] => [skill(name, id), result(`skill:${id}`, content)];
const kept = async (messages: readonly Message[], options: Parameters<typeof preserveSkills>[0] = {}): Promise<string> => {
  const summary = user('sum');
  const ctx = { namedCalls: toolCallsOf };
  const made = await preserveSkills(options)({ messages, summary, result: [system('s'), summary] }, ctx as never);
  return made.map(lineOf).join('\n');
};

it('[eino 284] skills stand between system messages and the summary, the newest of each name, in the order of loading', async () => {
  const messages = [...loaded('pdf', 's1', 'Old.'), ...loaded('xls', 's2', 'Sheets.'), ...loaded('pdf', 's3', 'New.')];
  expect(await kept(messages)).toBe(
    [
      'system: s',
      'user: These skills were loaded and still hold: <skill name="xls">\nSheets.\n</skill> <skill name="pdf">\nNew.\n</skill>',
      'user: sum',
    ].join('\n'),
  );
});

it('[eino 284] a skill over its limit is cut at a whole character', async () => {
  const text = await kept(loaded('pdf', 's1', '文'.repeat(1000)), { maxTokensPerSkill: 50 });
  expect(text).toContain('skill content truncated for compaction');
  expect(text).not.toContain('\uFFFD');
  expect(estimateTokens([user(/<skill name="pdf">\n([\s\S]*)\n<\/skill>/.exec(text)?.[1] ?? '')])).toBeLessThanOrEqual(50);
});

it('[eino 284] the budget goes to the newest, and ends at the first that does not fit', async () => {
  const messages = [...loaded('small', 's1', 'x'), ...loaded('large', 's2', 'y'.repeat(400)), ...loaded('newest', 's3', 'z'.repeat(40))];
  const text = await kept(messages, { skillsTokenBudget: 60 });
  expect(text).toContain('newest');
  expect(text).not.toContain('large');
  expect(text).not.toContain('small');
  expect(await kept(messages, { maxSkills: 1 })).not.toContain('large');
  expect(await kept(messages, { maxSkills: 0 })).toBe('system: s\nuser: sum');
});

it('[eino 284] arguments that name no skill are an error', async () => {
  await expect(kept([called('skill:s1'), result('skill:s1', 'x')])).rejects.toThrow('names no skill');
});
