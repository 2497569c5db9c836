import type { Json } from '../../contract/messages/messages';
import type { ReductionOnWorkerOptions } from '../../middleware/reduction/worker';
import type { ReductionOptions } from '../../middleware/index';
import { reduction } from '../../middleware/index';
import type { Asked } from '../support/compaction-bed';
import { asked, called, keptTexts, result, user } from '../support/compaction-bed';
import { cutCalls, says, streams } from '../support/reduction-bed';

const outputs = ({ messages }: Asked): readonly Json[] =>
  messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? [part.output] : [])));

const failures: readonly (readonly [string, ReductionOnWorkerOptions, RegExp])[] = [
  ['a path that cannot be made', { backend: keptTexts(), truncOffloadPath: () => Promise.reject(new Error('no path')) }, /no path/],
  ['no backend', {}, /the worker middleware of reduction has no backend/],
  ['a write that fails', { backend: { ...keptTexts(), write: () => Promise.reject(new Error('disk full')) } }, /disk full/],
];

it.each(failures)('[eino 208] with %s the notice of a stream says so', async (_, half, reason) => {
  const [output] = outputs(await cutCalls({ half, tools: { streams: streams(['0123', '456789abc']) } }));
  expect(output).toMatch(/^0123/);
  expect(output).toMatch(/Failed to save full output: .*\./);
  expect(output).toMatch(reason);
});

it('[eino 209] an excluded tool keeps its output, streamed or not, and nothing of it is stored', async () => {
  const backend = keptTexts();
  const long = '0123456789abcdef';
  const run = await cutCalls({
    half: { backend },
    options: { truncExcludeTools: ['says', 'streams'] },
    tools: { says: says(long), streams: streams([long, long]), other: says(long), otherStreams: streams([long]) },
  });
  const [plain, streamed, ...cutOnes] = outputs(run);
  expect([plain, streamed]).toEqual([long, long + long]);
  expect(cutOnes.map((output) => String(output).includes('Output too large'))).toEqual([true, true]);
  expect([...backend.texts.keys()].map((path) => path.split('/').at(-1))).toEqual(expect.arrayContaining(['id-other', 'id-otherStreams']));
  expect(backend.texts.size).toBe(2);
});

it("[eino 209] a path of one's own stands in the notice and in the backend", async () => {
  const backend = keptTexts();
  const half = { backend, truncOffloadPath: ({ tool, callId }: { tool: string; callId: string }) => `mine/${tool}-${callId}` };
  const [output] = outputs(await cutCalls({ half, tools: { says: says('0123456789abc') } }));
  expect(output).toContain('saved to: mine/says-id-says');
  expect([...backend.texts.keys()]).toEqual(['mine/says-id-says']);
});

const rounds = [
  user('Hi'),
  called('c1'),
  result('c1', 'a'.repeat(100)),
  called('add:c2'),
  result('add:c2', 'b'.repeat(100)),
  called('c3'),
  result('c3', 'c'),
];
const clear = (options: ReductionOptions): Promise<Asked> =>
  asked([reduction({ skipTruncation: true, maxTokensForClear: 20, ...options })], rounds);

it('[eino 211] a rewriter that returns nothing removes call and result', async () => {
  const { lines } = await clear({ clearMessageRewriter: () => undefined });
  expect(lines).toEqual(['user: Hi', 'assistant: echo({"text":"c3 in"})', 'tool: c']);
});
