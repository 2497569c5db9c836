import { z } from 'zod';
import { defineTool } from '../../activities/tools';
import type { Delta } from '../../contract/plain/deltas';
import type { Json } from '../../contract/plain/messages';
import type { ReductionHalfOptions } from '../../worker/index';
import { reductionHalf } from '../../worker/index';
import type { ReductionOptions } from '../../workflows/index';
import { reduction } from '../../workflows/index';
import type { Asked } from '../support/compaction-bed';
import { asked, called, keptTexts, result, user } from '../support/compaction-bed';

const text = z.object({ text: z.string() });
const pieces = (list: readonly string[], error?: string) =>
  defineTool({
    description: 'Streams.',
    inputSchema: text,
    async *stream() {
      yield* list;
      if (error !== undefined) throw new Error(error);
    },
  });
const says = (output: string) => defineTool({ description: 'Says it.', inputSchema: text, execute: () => output });

interface Cut {
  readonly options?: ReductionOptions;
  readonly half?: ReductionHalfOptions;
  readonly tools: Readonly<Record<string, unknown>>;
  readonly onDelta?: (delta: Delta) => void;
}

/** Calls each of the tools once, with the cut on the way. */
function cut({ options = {}, half = { backend: keptTexts() }, tools, onDelta }: Cut): Promise<Asked> {
  const toolCalls = Object.keys(tools).map((name) => ({ name, id: `id-${name}`, input: { text: 'x' } }));
  return asked([reduction({ maxLengthForTrunc: 10, skipClear: true, ...options })], [user('Hi')], {
    steps: [{ toolCalls }, { text: 'Done.' }],
    agent: { tools: Object.keys(tools) },
    tools,
    middleware: [reductionHalf(half)],
    ...(onDelta === undefined ? {} : { onDelta }),
  });
}

const outputs = ({ messages }: Asked): readonly Json[] =>
  messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? [part.output] : [])));

const failures: readonly (readonly [string, ReductionHalfOptions, RegExp])[] = [
  ['a path that cannot be made', { backend: keptTexts(), truncOffloadPath: () => Promise.reject(new Error('no path')) }, /no path/],
  ['no backend', {}, /the worker half of reduction has no backend/],
  ['a write that fails', { backend: { ...keptTexts(), write: () => Promise.reject(new Error('disk full')) } }, /disk full/],
];

it.each(failures)('[eino 208] with %s the notice of a stream says so', async (_, half, reason) => {
  const [output] = outputs(await cut({ half, tools: { streams: pieces(['0123', '456789abc']) } }));
  expect(output).toMatch(/^0123/);
  expect(output).toMatch(/Failed to save full output: .*\./);
  expect(output).toMatch(reason);
});

it('[eino 209] an excluded tool keeps its output, streamed or not, and nothing of it is stored', async () => {
  const backend = keptTexts();
  const long = '0123456789abcdef';
  const run = await cut({
    half: { backend },
    options: { truncExcludeTools: ['says', 'streams'] },
    tools: { says: says(long), streams: pieces([long, long]), other: says(long), otherStreams: pieces([long]) },
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
  const [output] = outputs(await cut({ half, tools: { says: says('0123456789abc') } }));
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
