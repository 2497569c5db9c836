import { defineTool } from '../../activities/tools/tools';
import type { Json, Message, Part } from '../../contract/messages/messages';
import type { ReductionOnWorkerOptions } from '../../middleware/reduction/worker';
import { offloadTools, reductionOnWorker } from '../../middleware/reduction/worker';
import type { ClearedRound, ReductionOptions } from '../../middleware/index';
import { reduction } from '../../middleware/index';
import type { Asked } from '../support/compaction-bed';
import { asked, called, failureOf, keptTexts, result, said, user } from '../support/compaction-bed';
import { tools as bedTools } from '../support/memory-bed';
import { cutCalls, says, text } from '../support/reduction-bed';

const enhanced = (make: () => readonly Part[]) => defineTool({ description: 'Parts.', inputSchema: text, enhanced: true, execute: make });
const said199 = 'x'.repeat(35) + '-'.repeat(129) + 'y'.repeat(35);

interface Cut {
  readonly run: Asked;
  readonly output: string;
  readonly texts: ReadonlyMap<string, string>;
  readonly shown: readonly string[];
}

async function cut(tool: unknown, options: ReductionOptions = {}, half?: ReductionOnWorkerOptions): Promise<Cut> {
  const backend = keptTexts();
  const shown: string[] = [];
  const run = await cutCalls({
    options,
    half: half ?? { backend },
    tools: { it: tool },
    idOf: () => 'call_1',
    onDelta: (delta) => void (delta.type === 'tool-output-delta' && shown.push((delta as { text: string }).text)),
  });
  const part = run.messages.find(({ role }) => role === 'tool')?.parts[0];
  const found = part?.type === 'tool-result' ? part.output : null;
  return { run, texts: backend.texts, shown, output: typeof found === 'string' ? found : JSON.stringify(found) };
}

it('[eino 248] a notice has the size, the path, and the first and last characters', async () => {
  const { output, texts } = await cut(says(said199), { maxLengthForTrunc: 70, rootDir: 'somewhere' });
  expect(output).toContain('Output too large (199). Full output saved to: somewhere/default/test/agent/t1/it.0/trunc/call_1\n');
  expect(output).toContain(`:\n${'x'.repeat(35)}\n`);
  expect(output).toContain(`:\n${'y'.repeat(35)}\n`);
  expect(output).not.toContain('---');
  expect(output).toContain('Use read_file to view');
  expect([...texts.values()]).toEqual([said199]);
});

it('[eino 249] the hint names the tool that reads files here', async () => {
  expect((await cut(says(said199), { readFileToolName: 'open_file' })).output).toContain('Use open_file to view');
});

const parts: readonly Part[] = [
  { type: 'text', text: 'a'.repeat(20) },
  { type: 'file', mediaType: 'image/png', data: 'aGk=' },
  { type: 'text', text: 'b'.repeat(20) },
];

const cutParts = (half?: ReductionOnWorkerOptions, options: ReductionOptions = {}): Promise<Cut> =>
  cut(
    enhanced(() => parts),
    options,
    half,
  );

it('[eino 256] the texts of an enhanced result share the limit, and files stay', async () => {
  const { output, texts } = await cutParts(undefined, { maxLengthForTrunc: 8 });
  const made = JSON.parse(output) as readonly Part[];
  expect(made.map(({ type }) => type)).toEqual(['text', 'file']);
  expect((made[0] as { text: string }).text).toMatch(/Output too large \(41\)\.[\s\S]*\naa\n[\s\S]*\nbb\n/);
  expect([...texts.values()]).toEqual([`${'a'.repeat(20)}\n${'b'.repeat(20)}`]);
});

it('[eino 256] an error of a handler, and storing without a backend, come out', async () => {
  const failing = { handlers: { it: () => Promise.reject(new Error('cannot say')) } };
  expect(await failureOf((await cutParts(failing)).run)).toMatch(/^hook-failed: .*cannot say/);
  const handled = {
    handlers: { it: () => ({ output: [{ type: 'text', text: 'short' }] as unknown as Json, offload: { text: 'whole' } }) },
  };
  expect((await cutParts(handled)).output).toMatch(/could not be saved: the worker middleware of reduction has no backend/);
  expect((await cutParts({ ...handled, backend: keptTexts() })).output).toContain('short');
});

it('[eino 256] an error of the tool comes out unchanged', async () => {
  const fails = enhanced(() => {
    throw new Error('out of order');
  });
  expect((await cut(fails)).output).toBe("The tool 'it' failed: out of order");
});

const old = 'o'.repeat(100);
const two = [user('Hi'), called('call_1'), result('call_1', old), called('call_2'), result('call_2', old)];

interface Cleared {
  readonly run: Asked;
  readonly lines: readonly string[];
  readonly texts: ReadonlyMap<string, string>;
}

async function clear(messages: readonly Message[], options: ReductionOptions = {}, steps?: Parameters<typeof asked>[2]): Promise<Cleared> {
  const backend = keptTexts();
  const run = await asked([reduction({ maxTokensForClear: 20, ...options })], messages, {
    tools: { ...bedTools, ...offloadTools(backend) },
    middleware: [reductionOnWorker({ backend })],
    ...steps,
  });
  return { run, lines: run.lines, texts: backend.texts };
}

const withoutOffload = { skipTruncation: true };

it('[eino 257] older results are stored and cleared, arguments and the newest round stay', async () => {
  const { run, lines, texts } = await clear(two);
  expect(await failureOf(run)).toBe('completed');
  const path = [...texts.keys()][0] ?? '';
  expect(path).toMatch(/^offload\/default\/test\/[^/]+\/clear\/call_1$/);
  expect(lines).toEqual([
    'user: Hi',
    'assistant: echo({"text":"call_1 in"})',
    `tool: <persisted-output>Tool result saved to: ${path}\nUse read_file to view</persisted-output>`,
    'assistant: echo({"text":"call_2 in"})',
    `tool: ${old}`,
  ]);
  expect([...texts.values()]).toEqual([old]);
  expect((await clear(two, { clearRetentionSuffixLimit: 0 })).lines).toHaveLength(5);
  expect((await clear(two, { clearRetentionSuffixLimit: 2 })).texts.size).toBe(0);
});

const rewriting = async (messages: readonly Message[], made: readonly Message[], options: ReductionOptions = {}) => {
  const rounds: ClearedRound[] = [];
  const clearMessageRewriter = (round: ClearedRound): readonly Message[] => (rounds.push(round), made);
  return { ...(await clear(messages, { ...withoutOffload, clearMessageRewriter, ...options })), rounds };
};

it('[eino 267] a rewriter is not asked about an answer without calls', async () => {
  const messages = [said(old), user('Hi'), called('c3'), result('c3', 'new')];
  const { lines, rounds } = await rewriting(messages, []);
  expect([lines.length, rounds.length]).toEqual([4, 0]);
});

it('[eino 268] an error of a rewriter comes out, and a call without a result has none', async () => {
  const failing = (): never => {
    throw new Error('cannot rewrite');
  };
  const { run } = await clear(two, { ...withoutOffload, clearMessageRewriter: failing });
  expect(await failureOf(run)).toBe('hook-failed: beforeModelRewriteState of middleware "reduction" failed: cannot rewrite');
  const { rounds } = await rewriting([called('c1', 'c2'), result('c2', old), called('c3'), result('c3', 'new')], []);
  expect(rounds[0]?.results).toEqual([undefined, old]);
});
