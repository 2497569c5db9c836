import { z } from 'zod';
import { ToolRegistry, defineTool } from '../../../activities/tools/tools';
import { ToolRetry } from '../../../activities/tools/tool-attempt';
import type { DeltaBody } from '../../../contract/deltas';
import type { Part } from '../../../contract/messages/messages';
import type { StreamMode } from '../../../contract/record/wire';
import { defineWorkerMiddleware } from '../../../activities/worker-middleware/worker-middleware';
import { gate } from '../../support/memory-bed';
import { execute, seen } from '../../support/tool-bed';
import type { ErrorCode } from '../../../contract/errors';
import { errorOf } from '../../support/failures';

const outcomeOf = async (...given: Parameters<typeof execute>) => (await execute(...given)).outcome;
const failed = (code: ErrorCode, message?: unknown) => ({ type: 'failed', error: errorOf(code, message) });

const inputSchema = z.object({ name: z.string().default('Ada') });
const basics = { description: 'Greets.', inputSchema };
const text = (words: string): Part => ({ type: 'text', text: words });
const image: Part = { type: 'file', mediaType: 'image/png', data: 'aGk=' };

const invokable = defineTool({ ...basics, execute: ({ name }) => ({ hello: name }) });
const streamable = defineTool({
  ...basics,
  async *stream({ name }) {
    yield 'Hello ';
    yield '';
    yield name;
  },
});
const enhanced = defineTool({ ...basics, enhanced: true, execute: ({ name }) => [text(`Hello ${name}`), image] });
const enhancedStreamable = defineTool({
  ...basics,
  enhanced: true,
  async *stream({ name }) {
    yield text('Hello ');
    yield text(name);
    yield image;
    yield text('Bye');
  },
});
const pieces = (list: readonly string[], more: object = {}) =>
  defineTool({
    ...{ ...basics, ...more },
    async *stream() {
      yield* list;
    },
  });
const partsOf = (list: readonly Part[], more: object = {}) =>
  defineTool({
    ...{ ...basics, ...more, enhanced: true as const },
    async *stream() {
      yield* list;
    },
  });
const both = pieces(['piece ', 'by piece'], { execute: () => 'at once' });
const enhancedBoth = partsOf([text('piece by piece')], { execute: () => [text('at once')] });

const modes = { whole: {}, live: { stream: 'live' as const }, held: { stream: 'held' as const } };

describe('the kind of a tool', () => {
  it('is told by what it has', () => {
    const registry = new ToolRegistry({ invokable, streamable, enhanced, enhancedStreamable, both, enhancedBoth });
    expect(registry.names.map((name) => [name, registry.factsOf(name)?.kind])).toEqual([
      ['invokable', 'invokable'],
      ['streamable', 'streamable'],
      ['enhanced', 'enhanced'],
      ['enhancedStreamable', 'enhanced-streamable'],
      ['both', 'streamable'],
      ['enhancedBoth', 'enhanced-streamable'],
    ]);
  });

  it.each<[string, object, StreamMode, unknown]>([
    ['invokable', invokable, 'whole', { hello: 'Ada' }],
    ['invokable', invokable, 'live', { hello: 'Ada' }],
    ['streamable', streamable, 'whole', 'Hello Ada'],
    ['streamable', streamable, 'live', 'Hello Ada'],
    ['streamable', streamable, 'held', 'Hello Ada'],
    ['streamable with execute', both, 'whole', 'at once'],
    ['streamable with execute', both, 'live', 'piece by piece'],
    ['streamable with execute', both, 'held', 'piece by piece'],
    ['enhanced', enhanced, 'whole', [text('Hello Ada'), image]],
    ['enhanced', enhanced, 'live', [text('Hello Ada'), image]],
    ['enhanced that streams', enhancedStreamable, 'whole', [text('Hello Ada'), image, text('Bye')]],
    ['enhanced that streams', enhancedStreamable, 'live', [text('Hello Ada'), image, text('Bye')]],
    ['enhanced with both', enhancedBoth, 'whole', [text('at once')]],
    ['enhanced with both', enhancedBoth, 'held', [text('piece by piece')]],
  ])('%s gives JSON or a text, and an enhanced one parts: %#', async (kind, tool, mode, output) => {
    const isMultipart = kind.startsWith('enhanced');
    const { outcome } = await execute(tool, modes[mode]);
    expect(outcome).toEqual({ type: 'done', messageId: expect.any(String), output, ...(isMultipart ? { multipart: true } : {}) });
  });

  it('keeps a text apart that carries something', async () => {
    const marked = { type: 'text' as const, text: 'b', extra: { provider: { cache: true } } };
    const tool = partsOf([text('a'), marked, text('c'), text('d')]);
    expect(await outcomeOf(tool)).toMatchObject({ output: [text('a'), marked, text('cd')] });
  });

  it('lets the tool keep its own `this`', async () => {
    class Counter {
      readonly description = 'Counts.';
      readonly inputSchema = z.object({});
      private count = 41;
      execute(): number {
        return ++this.count;
      }
    }
    expect(await outcomeOf(new Counter())).toMatchObject({ output: 42 });
  });
});

describe('worker middleware', () => {
  const calls: string[] = [];
  const half = (name: string) =>
    defineWorkerMiddleware(name, () => ({
      async wrapInvokableToolCall(input, next, call) {
        calls.push(`${name} invokable ${call.tool} ${call.callId}`);
        return { [name]: await next(input) };
      },
      async *wrapStreamableToolCall(input, next) {
        calls.push(`${name} streamable`);
        for await (const piece of next(input)) yield `${piece}${name}`;
      },
      async wrapEnhancedInvokableToolCall(input, next) {
        calls.push(`${name} enhanced`);
        return [...(await next(input)), text(name)];
      },
      async *wrapEnhancedStreamableToolCall(input, next) {
        calls.push(`${name} enhanced-streamable`);
        for await (const piece of next(input)) yield piece.type === 'text' ? text(`${piece.text}${name}`) : piece;
      },
    }));
  const middleware = [half('a'), half('b')];
  beforeEach(() => {
    calls.length = 0;
  });

  it.each<[string, object, StreamMode, unknown, readonly string[]]>([
    ['invokable', invokable, 'live', { a: { b: { hello: 'Ada' } } }, ['a invokable tool call', 'b invokable tool call']],
    ['streamable', streamable, 'whole', 'Hello babaAdaba', ['a streamable', 'b streamable']],
    ['streamable', streamable, 'live', 'Hello babaAdaba', ['a streamable', 'b streamable']],
    ['invokable when it is called whole', both, 'whole', { a: { b: 'at once' } }, ['a invokable tool call', 'b invokable tool call']],
    ['streamable when it is followed', both, 'held', 'piece baby pieceba', ['a streamable', 'b streamable']],
    ['enhanced', enhanced, 'live', [text('Hello Ada'), image, text('b'), text('a')], ['a enhanced', 'b enhanced']],
    ['enhanced when it is called whole', enhancedBoth, 'whole', [text('at once'), text('b'), text('a')], ['a enhanced', 'b enhanced']],
    [
      'enhanced-streamable',
      enhancedStreamable,
      'live',
      [text('Hello baAdaba'), image, text('Byeba')],
      ['a enhanced-streamable', 'b enhanced-streamable'],
    ],
  ])('stand around a call of their kind and of no other, the first outermost: %s', async (_, tool, mode, output, order) => {
    const { outcome } = await execute(tool, { ...modes[mode], middleware });
    expect(outcome).toMatchObject({ type: 'done', output });
    expect(calls).toEqual(order);
  });

  it('see a stream piece by piece, and what they make of it is what is seen', async () => {
    const { deltas } = await execute(streamable, { ...modes.live, middleware });
    expect(seen(deltas)).toEqual(['attempt-start', '+Hello ba', '+ba', '+Adaba']);
  });

  it('may leave a piece out, end a stream early and answer without the tool', async () => {
    const entered: string[] = [];
    const long = defineTool({
      ...basics,
      async *stream() {
        try {
          for (let count = 0; ; count++) yield `${count} `;
        } finally {
          entered.push('left');
        }
      },
    });
    const first = defineWorkerMiddleware('first', () => ({
      async *wrapStreamableToolCall(input, next) {
        for await (const piece of next(input)) {
          if (piece === '3 ') return;
          if (piece !== '1 ') yield piece;
        }
      },
    }));
    expect(await outcomeOf(long, { middleware: [first] })).toMatchObject({ output: '0 2 ' });
    expect(entered).toEqual(['left']);
    const cached = defineWorkerMiddleware('cached', () => ({
      async *wrapStreamableToolCall() {
        yield 'known';
      },
    }));
    expect(await outcomeOf(long, { middleware: [cached] })).toMatchObject({ output: 'known' });
    expect(entered).toEqual(['left']);
  });

  it('may change the arguments', async () => {
    const other = defineWorkerMiddleware('other', () => ({
      wrapInvokableToolCall: (_, next) => next({ name: 'Bob' }),
      wrapStreamableToolCall: (_, next) => next({ name: 'Bob' }),
    }));
    expect(await outcomeOf(invokable, { middleware: [other] })).toMatchObject({ output: { hello: 'Bob' } });
    expect(await outcomeOf(streamable, { middleware: [other] })).toMatchObject({ output: 'Hello Bob' });
  });

  it('that fail, or give no stream, fail the call', async () => {
    const failing = defineWorkerMiddleware('failing', () => ({
      async *wrapStreamableToolCall(input, next) {
        yield* next(input);
        throw new Error('no log');
      },
    }));
    expect(await outcomeOf(streamable, { middleware: [failing] })).toMatchObject(
      failed('hook-failed', 'wrapStreamableToolCall of worker middleware "failing" failed: no log'),
    );
    const none = defineWorkerMiddleware('none', () => ({ wrapStreamableToolCall: () => Promise.resolve('text') as never }));
    expect(await outcomeOf(streamable, { middleware: [none] })).toMatchObject(
      failed('hook-failed', /wrapStreamableToolCall of worker middleware "none" returned no stream/),
    );
  });

  it('that this worker lacks are an error of the worker', async () => {
    await expect(execute(streamable, { workerMiddleware: [{ name: 'gone' }] })).rejects.toMatchObject({ code: 'worker-half-missing' });
  });
});

describe('what is seen while a tool runs', () => {
  it('is each piece of a live stream, and nothing of a held or a whole one', async () => {
    const call = { callId: 'call', tool: 'tool' };
    expect((await execute(streamable, modes.live)).deltas).toEqual([
      { type: 'attempt-start' },
      { type: 'tool-output-delta', ...call, text: 'Hello ' },
      { type: 'tool-output-delta', ...call, text: 'Ada' },
    ]);
    expect((await execute(enhancedStreamable, modes.live)).deltas.slice(2, 4)).toEqual([
      { type: 'tool-output-delta', ...call, part: text('Ada') },
      { type: 'tool-output-delta', ...call, part: image },
    ]);
    for (const mode of [modes.held, modes.whole]) expect((await execute(streamable, mode)).deltas).toEqual([]);
    expect((await execute(streamable, { ...modes.live, hidden: true })).deltas).toEqual([]);
  });

  it('comes while the tool still works', async () => {
    const door = gate();
    const first = gate();
    const slow = defineTool({
      ...basics,
      async *stream() {
        yield 'one';
        first.open();
        await door.opened;
        yield 'two';
      },
    });
    const deltas: DeltaBody[] = [];
    const running = execute(slow, { ...modes.live, deltas });
    await first.opened;
    expect(seen(deltas)).toEqual(['attempt-start', '+one']);
    door.open();
    expect((await running).outcome).toMatchObject({ output: 'onetwo' });
  });

  it('is void when the execution gives no result', async () => {
    const breaking = defineTool({
      ...basics,
      retry: { attempts: 2 },
      async *stream(_, call) {
        yield 'half';
        if (call.attempt < 3) throw new Error('broke off');
      },
    });
    const { outcome, deltas } = await execute(breaking, { ...modes.live, attempt: 2 });
    expect(outcome).toMatchObject(failed('tool-failed', "The tool 'tool' failed: broke off"));
    expect(seen(deltas)).toEqual(['attempt-start', '+half', 'attempt-void']);
    await expect(execute(breaking, { ...modes.live, attempt: 1 })).rejects.toBeInstanceOf(ToolRetry);
  });

  describe('of its progress', () => {
    const telling = (...data: readonly unknown[]) =>
      defineTool({
        ...basics,
        execute: (_, call) => {
          for (const each of data) call.progress(each as never);
          return 'done';
        },
      });

    it.each(Object.entries(modes))('is what it tells, in mode %s', async (_, mode) => {
      expect(seen((await execute(telling({ percent: 10 }, 'half'), mode)).deltas)).toEqual(['attempt-start', '.{"percent":10}', '."half"']);
    });

    it('is nothing that is no JSON or too large, and the tool does not learn of it', async () => {
      const cyclic: { self?: unknown } = {};
      cyclic.self = cyclic;
      const { outcome, deltas } = await execute(telling(undefined, () => 1, 5n, cyclic, NaN, 'x'.repeat(65_535), 'x'.repeat(65_534)));
      expect(outcome).toMatchObject({ output: 'done' });
      expect(deltas).toHaveLength(2);
    });

    it('is what it was when it was told', async () => {
      const data = { step: 1 };
      const { deltas } = await execute(
        defineTool({
          ...basics,
          execute: (_, call) => {
            call.progress(data);
            data.step = 2;
            return null;
          },
        }),
      );
      expect(seen(deltas)).toEqual(['attempt-start', '.{"step":1}']);
    });

    it('is nothing after the call, and without anybody to see it', async () => {
      let late: () => void = () => undefined;
      const tool = defineTool({
        ...basics,
        execute: (_, call) => {
          late = () => call.progress('late');
          return 'done';
        },
      });
      const { deltas } = await execute(tool);
      late();
      expect(deltas).toEqual([]);
      expect(await outcomeOf(telling('x'), { unseen: true })).toMatchObject({ output: 'done' });
    });

    it('stands between the pieces of a stream', async () => {
      const tool = defineTool({
        ...basics,
        async *stream(_, call) {
          call.progress('first');
          yield 'a';
          call.progress('then');
          yield 'b';
        },
      });
      expect(seen((await execute(tool, modes.live)).deltas)).toEqual(['attempt-start', '."first"', '+a', '."then"', '+b']);
    });
  });
});

describe('a stream', () => {
  const endless = (piece: unknown, left: string[]) =>
    defineTool({
      ...basics,
      resultLimit: 100,
      async *stream() {
        try {
          for (;;) yield piece as string;
        } finally {
          left.push('left');
        }
      },
    });

  it.each(['whole', 'live'] as const)('that goes over the limit is stopped, %s', async (mode) => {
    const left: string[] = [];
    const { outcome, deltas } = await execute(endless('0123456789', left), modes[mode]);
    expect(outcome).toMatchObject(failed('tool-result-too-large', "The tool 'tool' was stopped after 102 bytes; at most 100 are allowed."));
    expect(left).toEqual(['left']);
    expect(seen(deltas).at(-1)).toBe(mode === 'live' ? 'attempt-void' : undefined);
  });

  it('of exactly the limit is taken', async () => {
    expect(await outcomeOf(pieces(['01234', '\n\n', 'x'], { resultLimit: 12 }))).toMatchObject({ type: 'done', output: '01234\n\nx' });
  });

  it('counts bytes, and parts too', async () => {
    const tool = partsOf(Array<Part>(200).fill(text('é')), { resultLimit: 100 });
    expect(await outcomeOf(tool)).toMatchObject({ error: { code: 'tool-result-too-large' } });
  });

  it.each<[string, unknown, string]>([
    ['a number', 1, 'streamed a number; a stream has texts'],
    ['nothing', undefined, 'streamed a undefined'],
    ['null', null, 'streamed a null'],
    ['a part', text('x'), 'streamed a part of the type "text"'],
  ])('of texts that gives %s is refused and left', async (_, piece, message) => {
    const left: string[] = [];
    expect(await outcomeOf(endless(piece, left))).toMatchObject(failed('tool-result-invalid', expect.stringContaining(message)));
    expect(left).toEqual(['left']);
  });

  it.each<[string, unknown, string]>([
    ['a text that is no part', 'x', 'a string is no text and no file'],
    ['a part of another kind', { type: 'reasoning', text: 'x' }, 'a part of the type "reasoning" is no text and no file'],
    ['bytes', { type: 'file', mediaType: 'image/png', data: new Uint8Array(2) }, 'data is a Uint8Array'],
  ])('of parts that gives %s is refused', async (_, piece, message) => {
    expect(await outcomeOf(partsOf([piece as Part]))).toMatchObject(failed('tool-result-invalid', expect.stringContaining(message)));
  });

  it('may be any iterable, also a promised one', async () => {
    const promised = { ...basics, stream: async () => new Blob(['a']).stream().pipeThrough(new TextDecoderStream()) };
    expect(await outcomeOf(promised)).toMatchObject({ output: 'a' });
    expect(await outcomeOf({ ...basics, stream: () => 'text' })).toMatchObject({ error: { code: 'tool-result-invalid' } });
  });

  it('that is empty is an empty result', async () => {
    const nothing = async function* (): AsyncGenerator<never> {};
    expect(await outcomeOf({ ...basics, stream: nothing })).toMatchObject({ output: '' });
    expect(await outcomeOf({ ...basics, enhanced: true, stream: nothing })).toMatchObject({ output: [], multipart: true });
  });
});

describe('an enhanced tool', () => {
  it.each([
    ['a text', 'text'],
    ['an object', { type: 'text', text: 'x' }],
    ['nothing', undefined],
    ['other parts', [{ type: 'tool-call', id: '1', name: 'x', input: {} }]],
  ])('that returns %s fails', async (_, output) => {
    expect(await outcomeOf({ ...basics, enhanced: true, execute: () => output })).toMatchObject(
      failed('tool-result-invalid', /no list of parts/),
    );
  });

  it('has a limit for all its parts', async () => {
    const big = { ...basics, enhanced: true, resultLimit: 60, execute: () => [{ ...image, data: 'x'.repeat(100) }] };
    expect(await outcomeOf(big)).toMatchObject({ error: { code: 'tool-result-too-large' } });
  });

  it('that says what happened to a lost call says it in parts', async () => {
    const paying = { ...basics, enhanced: true, effect: 'once', execute: () => [], reconcile: () => ({ happened: true, result: [image] }) };
    expect(await outcomeOf(paying, { reconcile: true })).toMatchObject({ type: 'done', output: [image], multipart: true });
    const odd = { ...paying, reconcile: () => ({ happened: true, result: 'yes' }) };
    expect(await outcomeOf(odd, { reconcile: true })).toMatchObject({ error: { code: 'tool-result-invalid' } });
  });
});

describe('an interrupt', () => {
  const asking = (_: unknown, call: { resumed?: unknown; interrupt(info: string, options: object): never }): void => {
    if (call.resumed === undefined) call.interrupt('Go?', { state: { at: 1 }, deadline: '1h' });
  };
  const asked = { type: 'interrupted', info: 'Go?', state: { at: 1 }, deadlineMs: 3_600_000 };
  const kinds = {
    invokable: { ...basics, execute: (input: unknown, call: never) => (asking(input, call), 'done') },
    streamable: {
      ...basics,
      async *stream(input: unknown, call: never) {
        yield 'before ';
        asking(input, call);
        yield 'after';
      },
    },
    enhanced: { ...basics, enhanced: true, execute: (input: unknown, call: never) => (asking(input, call), [text('done')]) },
    'enhanced-streamable': {
      ...basics,
      enhanced: true,
      async *stream(input: unknown, call: never) {
        yield text('before ');
        asking(input, call);
        yield text('after');
      },
    },
  };

  it.each(Object.entries(kinds))('ends the execution of a tool that is %s; the next one has the answer', async (_, tool) => {
    const { outcome, deltas } = await execute(tool, modes.live);
    expect(outcome).toEqual(asked);
    expect(seen(deltas).at(-1)).toBe('stream' in tool ? 'attempt-void' : undefined);
    const again = await execute(tool, { ...modes.live, resumed: { answer: 'yes', state: { at: 1 } } });
    expect(again.outcome).toMatchObject({ type: 'done' });
  });

  it('counts also when the stream goes on after it', async () => {
    const stubborn = {
      ...basics,
      async *stream(_: unknown, call: { interrupt(info: string): never }) {
        try {
          call.interrupt('Go?');
        } catch {
          yield 'whatever';
        }
      },
    };
    expect(await outcomeOf(stubborn)).toEqual({ type: 'interrupted', info: 'Go?' });
  });

  it('with a deadline or a schema that cannot be read fails the call', async () => {
    const ask = (options: object) => ({
      ...basics,
      execute: (_: unknown, call: { interrupt(info: string, options: object): never }) => call.interrupt('Go?', options),
    });
    expect(await outcomeOf(ask({ deadline: 'tomorrow' }))).toMatchObject(failed('tool-failed', /deadline "tomorrow"/));
    expect(await outcomeOf(ask({ answerSchema: z.date() }))).toMatchObject(failed('tool-failed', /answerSchema/));
  });
});

describe('cancellation', () => {
  it('reaches the signal of a stream, and nobody waits for one that does not listen', async () => {
    const abort = new AbortController();
    const waiting = gate();
    let told = false;
    const deaf = defineTool({
      ...basics,
      async *stream(_, call) {
        call.signal.addEventListener('abort', () => (told = true));
        yield 'one';
        waiting.open();
        await new Promise(() => undefined);
      },
    });
    const running = execute(deaf, { ...modes.live, signal: abort.signal });
    await waiting.opened;
    abort.abort(new Error('stopped'));
    await expect(running).rejects.toThrow('stopped');
    expect(told).toBe(true);
  });

  it('stops a stream that goes on for ever', async () => {
    const abort = new AbortController();
    const left: string[] = [];
    const endless = defineTool({
      ...basics,
      async *stream() {
        try {
          for (let count = 0; ; count++) {
            if (count === 3) abort.abort(new Error('stopped'));
            yield '';
            await Promise.resolve();
          }
        } finally {
          left.push('left');
        }
      },
    });
    await expect(execute(endless, { signal: abort.signal })).rejects.toThrow('stopped');
    expect(left).toEqual(['left']);
  });

  it('does not stop a once tool, whose result counts', async () => {
    const abort = new AbortController();
    const paying = defineTool({
      ...basics,
      effect: 'once',
      async *stream() {
        yield 'pay';
        abort.abort(new Error('stopped'));
        await Promise.resolve();
        yield 'ed';
      },
    });
    expect(await outcomeOf(paying, { signal: abort.signal })).toMatchObject({ type: 'done', output: 'payed' });
  });
});
