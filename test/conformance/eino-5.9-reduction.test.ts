import { defineTool } from '../../activities/tools';
import type { Json } from '../../contract/plain/messages';
import type { ReductionHalfOptions } from '../../middleware/reduction/worker';
import type { ReductionOptions } from '../../workflows/index';
import { reduction } from '../../workflows/index';
import type { Asked } from '../support/compaction-bed';
import { asked, called, keptTexts, result, user } from '../support/compaction-bed';
import { gate, lineOf } from '../support/memory-bed';
import { cutCalls, says, streams, text } from '../support/reduction-bed';

const outputs = ({ messages }: Asked): readonly Json[] =>
  messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? [part.output] : [])));

it('[eino 206] a result that is too long is stored whole, and a notice stands in its place', async () => {
  const backend = keptTexts();
  const [output] = outputs(await cutCalls({ half: { backend }, tools: { says: says('0123456789abc') } }));
  expect(output).toMatch(
    /^<persisted-output>\nOutput too large \(13\)\. Full output saved to: offload\/default\/test\/agent\/t1\/says\.0\/trunc\/id-says\n/,
  );
  expect([...backend.texts.values()]).toEqual(['0123456789abc']);
});

it('[eino 207] the first piece of a stream is seen before its source ends, and the notice only then', async () => {
  const source = gate();
  const seen: string[] = [];
  const slow = defineTool({
    description: 'Streams.',
    inputSchema: text,
    async *stream() {
      yield 'first ';
      await source.opened;
      yield 'second and much more';
    },
  });
  await cutCalls({
    tools: { slow },
    onDelta(delta) {
      if (delta.type !== 'tool-output-delta') return;
      seen.push(String((delta as { text?: string }).text));
      if (seen.length === 1) {
        expect(seen).toEqual(['first ']);
        source.open();
      }
    },
  });
  expect(seen).toHaveLength(2);
  expect(seen[1]).toContain('Output too large (26)');
});

const failures: readonly (readonly [string, ReductionHalfOptions, RegExp])[] = [
  ['a path that cannot be made', { backend: keptTexts(), truncOffloadPath: () => Promise.reject(new Error('no path')) }, /no path/],
  ['no backend', {}, /the worker half of reduction has no backend/],
  ['a write that fails', { backend: { ...keptTexts(), write: () => Promise.reject(new Error('disk full')) } }, /disk full/],
];

it.each(failures)('[eino 208] with %s the notice of a stream says so', async (_, half, reason) => {
  const [output] = outputs(await cutCalls({ half, tools: { streams: streams(['0123', '456789abc']) } }));
  expect(output).toMatch(/^0123/);
  expect(output).toMatch(/Failed to save full output: .*\./);
  expect(output).toMatch(reason);
});

it('[eino 208] an error of the source comes behind what was held back', async () => {
  const shown: string[] = [];
  const run = await cutCalls({
    tools: { streams: streams(['abc', 'defghijklmnop', 'tail'], 'out of order') },
    onDelta: (delta) => void (delta.type === 'tool-output-delta' && shown.push((delta as { text: string }).text)),
  });
  expect(shown).toEqual(['abc', 'defghijklmnoptail']);
  expect(outputs(run)[0]).toBe("The tool 'streams' failed: out of order");
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

it('[eino 211] the results of excluded tools stay', async () => {
  const { requests } = await clear({ clearExcludeTools: ['echo'] });
  expect(requests[0]?.messages.map(lineOf).filter((line) => line.startsWith('tool'))).toEqual([
    `tool: ${'a'.repeat(100)}`,
    'tool: [Old tool result content cleared]',
    'tool: c',
  ]);
});

it('[eino 211] with a least number of tokens that would not go nothing changes, with one that would all does', async () => {
  expect((await clear({ clearAtLeastTokens: 1000 })).lines.filter((line) => line.includes('cleared'))).toHaveLength(0);
  expect((await clear({ clearAtLeastTokens: 20 })).lines.filter((line) => line.includes('cleared'))).toHaveLength(2);
});

it('[eino 211] a rewriter that returns nothing removes call and result', async () => {
  const { lines } = await clear({ clearMessageRewriter: () => undefined });
  expect(lines).toEqual(['user: Hi', 'assistant: echo({"text":"c3 in"})', 'tool: c']);
});
