import { defineTool } from '../../../activities/tools/tools';
import type { Delta } from '../../../contract/deltas';
import type { Json, Part } from '../../../contract/messages/messages';
import type { ReductionOnWorkerOptions } from '../../../middleware/reduction/worker';
import { offloadTools, reductionOnWorker } from '../../../middleware/reduction/worker';
import type { ReductionOptions } from '../../../middleware/index';
import { reduction } from '../../../middleware/index';
import type { Asked } from '../../support/compaction-bed';
import { asked, called, failureOf, keptTexts, result, user } from '../../support/compaction-bed';
import { tools as bedTools } from '../../support/memory-bed';
import { cutCalls, streams, text } from '../../support/reduction-bed';

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

describe('[check 11] a stream that reduction cuts', () => {
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

const old = 'o'.repeat(100);
const two = [user('Hi'), called('c1'), result('c1', old), called('c2'), result('c2', old)];
type Clear = NonNullable<NonNullable<ReductionOptions['toolConfig']>[string]['clear']>;

async function cleared(clear: Clear, options: ReductionOptions = {}): Promise<Asked & { readonly texts: ReadonlyMap<string, string> }> {
  const backend = keptTexts();
  const run = await asked([reduction({ maxTokensForClear: 20, toolConfig: { echo: { clear } }, ...options })], two, {
    tools: { ...bedTools, ...offloadTools(backend) },
    middleware: [reductionOnWorker({ backend })],
  });
  return { ...run, texts: backend.texts };
}

describe('[check 11] a clear function of reduction', () => {
  it('changes the arguments of a call, and leaves its result where it says nothing of it', async () => {
    const both = await cleared(({ call }) => ({ input: { text: '[cleared]' }, text: `${call.id} is gone.` }));
    expect(both.lines.slice(1, 3)).toEqual(['assistant: echo({"text":"[cleared]"})', 'tool: c1 is gone.']);
    const one = await cleared(() => ({ input: { text: '[cleared]' } }));
    expect(one.lines.slice(1, 3)).toEqual(['assistant: echo({"text":"[cleared]"})', `tool: ${old}`]);
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
    expect([none.lines[2], none.texts.size, seen]).toEqual([`tool: ${old}`, 0, ['c1']]);
  });

  it('reaches the store by itself, with the input that is documented', async () => {
    const byHand = await cleared(async ({ call, output }, ctx) => {
      const stored = (await ctx.call('reduction_offload', {
        rootDir: 'offload',
        results: [{ callId: call.id, place: 'by-hand', text: String(output) }],
      })) as readonly string[];
      return `It is in ${stored.join()}.`;
    });
    expect([...byHand.texts]).toEqual([['offload/default/test/by-hand/clear/c1', old]]);
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
