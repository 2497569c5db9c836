import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { defineTool } from '../../../activities/tools/tools';
import { headOf, previewsOf, tailOf } from '../../../middleware/reduction/worker/stream';
import type { OffloadBackend, ReductionOnWorkerOptions } from '../../../middleware/reduction/worker';
import { directoryOffload, offloadTools, reductionOnWorker } from '../../../middleware/reduction/worker';
import type { ReductionOptions } from '../../../middleware/index';
import { reduction } from '../../../middleware/index';
import type { Asked, Asking } from '../../support/compaction-bed';
import { asked, called, failureOf, keptTexts, result, user } from '../../support/compaction-bed';
import { tools as bedTools } from '../../support/memory-bed';
import type { Delta } from '../../../contract/deltas';
import type { Json, Part } from '../../../contract/messages/messages';
import { cutCalls, streams, text } from '../../support/reduction-bed';
import { errorOf } from '../../support/failures';

const long = 'o'.repeat(100);
const says = defineTool({ description: 'Says a lot.', inputSchema: z.object({}), execute: (): unknown => ({ list: [long, long] }) });
const two = [user('Hi'), called('c1'), result('c1', long), called('c2'), result('c2', long)];

function run(backend: OffloadBackend, options: ReductionOptions, input = [user('Hi')], asking: Asking = {}): Promise<Asked> {
  return asked([reduction(options)], input, {
    tools: { ...bedTools, says, ...offloadTools(backend) },
    middleware: [reductionOnWorker({ backend })],
    agent: { tools: ['echo', 'says', 'read_file'] },
    ...asking,
  });
}

const callOf = (name: string, input: object): { readonly toolCalls: readonly [{ readonly name: string; readonly input: never }] } => ({
  toolCalls: [{ name, input: input as never }],
});
const lastOutput = ({ messages }: Asked): unknown => {
  const part = messages.filter(({ role }) => role === 'tool').at(-1)?.parts[0];
  return part?.type === 'tool-result' ? part.output : undefined;
};

describe('reduction', () => {
  it('stores a result that is no text as JSON, and the model reads it by pages', async () => {
    const backend = keptTexts();
    const path = 'offload/default/test/agent/t1/says.0/trunc/call-1-1';
    const steps = [callOf('says', {}), callOf('read_file', { path, offset: 9, limit: 20 }), { text: 'Done.' }];
    const done = await run(backend, { maxLengthForTrunc: 50 }, [user('Hi')], { steps });
    expect(backend.texts.get(path)).toBe(JSON.stringify({ list: [long, long] }));
    expect(lastOutput(done)).toBe(`"${'o'.repeat(19)}\n[characters 9 to 29 of 216; go on with offset 29]`);
  });

  it('lets a model read nothing of other runs, and nothing that is not there', async () => {
    const backend = keptTexts();
    await backend.write('offload/default/other/x', 'secret');
    for (const path of ['offload/default/other/x', 'offload/default/test/../other/x', 'offload/default/test/none']) {
      const done = await run(backend, {}, [user('Hi')], { steps: [callOf('read_file', { path }), { text: 'Done.' }] });
      expect(lastOutput(done)).toBe(`There is no file "${path}". Use a path that a notice named, as it stands there.`);
    }
  });

  it('has bounds of its own for a tool, and leaves out tools that are told to be', async () => {
    const backend = keptTexts();
    const steps = [callOf('says', {}), { text: 'Done.' }];
    await run(backend, { maxLengthForTrunc: 50, toolConfig: { says: { maxLengthForTrunc: 500 } } }, [user('Hi')], { steps });
    await run(backend, { maxLengthForTrunc: 50, toolConfig: { says: { skipTruncation: true } } }, [user('Hi')], { steps });
    expect(backend.texts.size).toBe(0);
  });

  it('takes a text of a function for the results of a tool, and clears none of a tool that is told so', async () => {
    const backend = keptTexts();
    const clear = await run(backend, { maxTokensForClear: 20, toolConfig: { echo: { clear: ({ call }) => `${call.id} is gone.` } } }, two);
    expect([clear.lines[2], backend.texts.size]).toEqual(['tool: c1 is gone.', 0]);
    const skip = await run(backend, { maxTokensForClear: 20, toolConfig: { echo: { skipClear: true } } }, two);
    expect(skip.lines[2]).toBe(`tool: ${long}`);
  });

  it('stores under a path of its own, in several calls where there is much to store', async () => {
    const backend = keptTexts();
    const large = 'x'.repeat(80_000);
    const many = [user('Hi'), ...['c1', 'c2', 'c3'].flatMap((id) => [called(id), result(id, large)]), called('c4'), result('c4', 'new')];
    const changes: number[] = [];
    await run(
      backend,
      {
        maxTokensForClear: 20,
        clearOffloadPath: ({ id }) => `mine/${id}`,
        clearPostProcess: ({ before, after }) => void changes.push(before.length, after.length),
      },
      many,
    );
    expect([...backend.texts.keys()]).toEqual(['mine/c1', 'mine/c2', 'mine/c3']);
    expect(changes).toEqual([9, 9]);
  });

  it('fails at the start of a run when the worker has no tool to store by, and when it has no half', async () => {
    const without = await asked([reduction()], [user('Hi')], { middleware: [reductionOnWorker({ backend: keptTexts() })] });
    expect(await failureOf(without)).toMatch(/^tool-unknown: .*"reduction_offload"/);
    expect(await failureOf(await asked([reduction()], [user('Hi')], { tools: { ...bedTools, ...offloadTools(keptTexts()) } }))).toMatch(
      /^worker-half-missing: /,
    );
  });

  it('tells the model when a whole result cannot be stored', async () => {
    const backend = { ...keptTexts(), write: () => Promise.reject(new Error('disk full')) };
    const done = await run(backend, { maxLengthForTrunc: 50 }, [user('Hi')], { steps: [callOf('says', {}), { text: 'Done.' }] });
    expect(lastOutput(done)).toBe(
      "The tool 'says' failed: It ran, but its output of 216 bytes is too large to show, and could not be saved: disk full",
    );
  });

  it.each<[ReductionOptions, string]>([
    [{ maxLengthForTrunc: 0 }, 'reduction: maxLengthForTrunc must be a whole number of at least 1. It is 0.'],
    [{ skipTruncation: true, skipClear: true }, 'reduction: with skipTruncation and skipClear it does nothing;'],
    [{ skipTruncation: true, clearOffloadPath: () => 'x' }, 'reduction: clearOffloadPath is for cleared results that are stored;'],
    [{ toolConfig: { echo: { limit: 1 } as never } }, 'reduction: there is no option "toolConfig.echo.limit"; there are'],
  ])('refuses the options %j', (options, message) => {
    expect(() => reduction(options)).toThrow(errorOf('agent-invalid', expect.stringContaining(message)));
  });

  it('refuses a backend that is none', () => {
    expect(() => reductionOnWorker({ backend: {} as never })).toThrow(expect.objectContaining({ code: 'config-invalid' }));
    expect(() => offloadTools(undefined as never)).toThrow('write and read');
    expect(() => directoryOffload('')).toThrow('it takes a directory');
  });
});

describe('a directory for what is offloaded', () => {
  let directory: string;
  beforeEach(async () => (directory = await mkdtemp(join(tmpdir(), 'offload-'))));
  afterEach(() => rm(directory, { recursive: true, force: true }));

  it('keeps texts as files under their paths', async () => {
    const backend = directoryOffload(directory);
    await backend.write('a/b/c', 'Grüße');
    expect(await readFile(join(directory, 'a', 'b', 'c'), 'utf8')).toBe('Grüße');
    expect([await backend.read('a/b/c'), await backend.read('a/none'), await backend.read('a')]).toEqual(['Grüße', undefined, undefined]);
  });

  it.each(['../x', 'a/../../x', ''])('refuses the path "%s", which leads out of it', async (path) => {
    await expect(directoryOffload(directory).write(path, 'x')).rejects.toThrow('leads out of the directory');
    await expect(directoryOffload(directory).read(path)).rejects.toThrow('leads out of the directory');
  });
});

it('tells nothing of its directory when a path has a NUL or cannot be had', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-offload-'));
  const backend = directoryOffload(directory);
  await expect(backend.read('a\0b')).rejects.toMatchObject({ code: 'request-invalid', message: 'A path is a text without a NUL in it.' });
  await backend.write('file', 'x');
  await expect(backend.write('file/below', 'x')).rejects.toMatchObject(errorOf('tool-failed', expect.not.stringContaining(directory)));
  await rm(directory, { recursive: true });
});

it('previews have whole characters only', () => {
  expect(headOf('aé€😀', 3)).toBe('aé');
  expect(headOf('aé€😀', 5)).toBe('aé');
  expect(tailOf('😀€éa', 3)).toBe('éa');
  expect(tailOf('😀€éa', 5)).toBe('éa');
  expect(previewsOf('short', 3)).toEqual(['short']);
});

const parts = (list: readonly Part[], error?: string) =>
  defineTool({
    description: 'Streams parts.',
    inputSchema: text,
    enhanced: true,
    async *stream() {
      yield* list;
      if (error !== undefined) throw new Error(error);
    },
  });
const words = (said: string): Part => ({ type: 'text', text: said });
const image = (data: string): Part => ({ type: 'file', mediaType: 'image/png', data });

async function cut(tool: unknown, half?: ReductionOnWorkerOptions): Promise<{ readonly output: Json; readonly pieces: readonly Delta[] }> {
  const pieces: Delta[] = [];
  const { messages } = await cutCalls({
    tools: { it: tool },
    ...(half === undefined ? {} : { half }),
    onDelta: (delta) => void (delta.type === 'tool-output-delta' && pieces.push(delta)),
  });
  const part = messages.find(({ role }) => role === 'tool')?.parts[0];
  return { output: part?.type === 'tool-result' ? part.output : null, pieces };
}

const path = 'offload/default/test/agent/t1/it.0/trunc/id-it';
const notice = (bytes: number, streamed: number): string =>
  [
    '<persisted-output>',
    `Output too large (${bytes}). Full output saved to: ${path}`,
    `The first ${streamed} bytes of it were streamed before this notice.`,
    'Use read_file to view the rest.',
    '</persisted-output>',
  ].join('\n');

describe('a stream that reduction cuts', () => {
  it('is seen up to the limit, and its notice says how much that is and shows none of it again', async () => {
    const { output } = await cut(streams(['abc', 'defghijklmnop', 'qrstuvwxyz']));
    expect(output).toBe(`abcdefghij\n${notice(26, 10)}`);
  });

  it('is cut between characters, and the notice counts what was really seen', async () => {
    const { output } = await cut(streams(['abcdefgh', '€€€']));
    expect(output).toBe(`abcdefgh\n${notice(17, 8)}`);
  });

  it('says in the notice that it could not be stored, and how much was seen', async () => {
    const { output } = await cut(streams(['0123456789abc']), {});
    expect(output).toBe(
      [
        '0123456789',
        '<persisted-output>',
        'Output too large (13). Failed to save full output: the worker middleware of reduction has no backend.',
        'The first 10 bytes of it were streamed before this notice.',
        '</persisted-output>',
      ].join('\n'),
    );
  });

  it('keeps the order of its parts, where it is cut too', async () => {
    const { output } = await cut(
      parts([image('aQ=='), words('abc'), words('defghijklmnop'), image('ag=='), words('qrs'), image('aw=='), words('tuv')]),
    );
    expect(output).toEqual([image('aQ=='), words('abcdefghij'), image('ag=='), image('aw=='), words(notice(22, 10))]);
  });

  it('keeps the order of its parts where it has exactly the limit, and where it breaks', async () => {
    const list = [words('abc'), words('defghij'), image('ag==')];
    expect((await cut(parts(list))).output).toEqual([words('abcdefghij'), image('ag==')]);
    const broken = [words('abc'), words('defghijklmnop'), image('ag=='), words('tail')];
    const { pieces, output } = await cut(parts(broken, 'out of order'));
    expect(output).toBe("The tool 'it' failed: out of order");
    expect(pieces.flatMap((piece) => ('part' in piece ? [piece.part] : []))).toEqual(broken);
  });

  it('leaves files where they stand in a result that comes at once', async () => {
    const { output } = await cut(
      defineTool({
        description: 'Parts.',
        inputSchema: text,
        enhanced: true,
        execute: () => [image('aQ=='), words('a'.repeat(20)), image('ag=='), words('b'.repeat(20))],
      }),
    );
    expect((output as unknown as readonly Part[]).map(({ type }) => type)).toEqual(['file', 'text', 'file']);
  });
});

type Clear = NonNullable<NonNullable<ReductionOptions['toolConfig']>[string]['clear']>;

async function cleared(clear: Clear, options: ReductionOptions = {}): Promise<Asked & { readonly texts: ReadonlyMap<string, string> }> {
  const backend = keptTexts();
  const run = await asked([reduction({ maxTokensForClear: 20, toolConfig: { echo: { clear } }, ...options })], two, {
    tools: { ...bedTools, ...offloadTools(backend) },
    middleware: [reductionOnWorker({ backend })],
  });
  return { ...run, texts: backend.texts };
}

describe('a clear function of reduction', () => {
  it('changes the arguments of a call, and leaves its result where it says nothing of it', async () => {
    const both = await cleared(({ call }) => ({ input: { text: '[cleared]' }, text: `${call.id} is gone.` }));
    expect(both.lines.slice(1, 3)).toEqual(['assistant: echo({"text":"[cleared]"})', 'tool: c1 is gone.']);
    const one = await cleared(() => ({ input: { text: '[cleared]' } }));
    expect(one.lines.slice(1, 3)).toEqual(['assistant: echo({"text":"[cleared]"})', `tool: ${long}`]);
    expect(one.requests[0]?.messages[2]?.extra).toEqual({ reduction: 'cleared' });
  });

  it('stores what it wants, under a path of its own or the usual one, and says so in words of its own or the usual ones', async () => {
    const mine = await cleared(({ call, output }) => ({
      text: `Look into mine/${call.id}.`,
      offload: { text: String(output).slice(0, 3), path: `mine/${call.id}` },
    }));
    expect([mine.lines[2], [...mine.texts]]).toEqual(['tool: Look into mine/c1.', [['mine/c1', 'ooo']]]);
    const usual = await cleared(() => ({ offload: { text: 'whole' } }));
    const [stored = ''] = usual.texts.keys();
    expect(stored).toMatch(/^offload\/default\/test\/[^/]+\/clear\/c1$/);
    expect(usual.lines[2]).toBe(`tool: <persisted-output>Tool result saved to: ${stored}\nUse read_file to view</persisted-output>`);
  });

  it('leaves a call by saying nothing, and is asked about it again before the next call of the model', async () => {
    const seen: string[] = [];
    const none = await cleared(({ call }) => (seen.push(call.id), undefined));
    expect([none.lines[2], none.texts.size, seen]).toEqual([`tool: ${long}`, 0, ['c1']]);
  });

  it('reaches the store by itself, with the input that is documented', async () => {
    const byHand = await cleared(async ({ call, output }, ctx) => {
      const stored = (await ctx.call('reduction_offload', {
        rootDir: 'offload',
        results: [{ callId: call.id, place: 'by-hand', text: String(output) }],
      })) as readonly string[];
      return `It is in ${stored.join()}.`;
    });
    expect([...byHand.texts]).toEqual([['offload/default/test/by-hand/clear/c1', long]]);
    expect(byHand.lines[2]).toBe('tool: It is in offload/default/test/by-hand/clear/c1.');
  });

  it.each<[string, Clear, ReductionOptions, RegExp]>([
    ['a field that there is not', () => ({ output: 'x' }) as never, {}, /returned an object with "output"; it has input, text and offload/],
    ['an empty text', () => ({ text: '' }), {}, /returned a text that is empty/],
    ['an input that is no JSON', () => ({ input: new Map() as never }), {}, /returned an input that is not JSON/],
    ['an offload without a text', () => ({ offload: {} as never }), {}, /returned an offload that has no text/],
    [
      'an offload where nothing is stored',
      () => ({ offload: { text: 'x' } }),
      { offloadCleared: false },
      /write offloadCleared: true beside it/,
    ],
  ])('fails the run with its name for %s', async (_, clear, options, message) => {
    const failure = await failureOf(await cleared(clear, options));
    expect(failure).toMatch(/^hook-failed: /);
    expect(failure).toMatch(message);
  });
});
