import type { ModelAnswer } from '../../../activities/models/call-model';
import { generate } from '../../../activities/models/call-model';
import { CallValues } from '../../../activities/calls/call-values';
import type { ModelChunk, LanguageModel } from '../../../activities/models/language-model';
import { ModelRegistry } from '../../../activities/models/models';
import { ToolRegistry } from '../../../activities/tools/tools';
import type { WorkerWraps } from '../../../activities/worker-middleware/worker-middleware';
import { WorkerMiddlewareRegistry } from '../../../activities/worker-middleware/worker-middleware';
import type { DeltaBody } from '../../../contract/deltas';
import type { Part } from '../../../contract/messages/messages';
import { textOf } from '../../../contract/messages/messages';
import type { StreamMode } from '../../../contract/record/wire';
import { gate } from '../../support/gate';

type ModelHalf = NonNullable<WorkerWraps['wrapModel']>;

async function* say(...texts: readonly string[]): AsyncGenerator<ModelChunk> {
  for (const text of texts) yield { type: 'text', text };
  yield { type: 'finish', usage: { inputTokens: 1, outputTokens: 2 } };
}

const talker: LanguageModel = {
  generate: async () => ({ parts: [{ type: 'text', text: 'one two' }] }),
  stream: () => say('one ', 'two'),
};

const streaming = (stream: () => AsyncIterable<ModelChunk>): LanguageModel => ({ ...talker, stream });
const silence = (): Promise<never> => new Promise(() => undefined);

interface Call {
  readonly model?: LanguageModel;
  readonly halves?: readonly ModelHalf[];
  readonly stream?: StreamMode;
  readonly signal?: AbortSignal;
  readonly stallMs?: number;
  readonly onDelta?: (delta: DeltaBody) => void;
}

async function call({ model = talker, halves = [], stream = 'live', signal, stallMs, onDelta }: Call): Promise<{
  readonly answer: ModelAnswer;
  readonly seen: string;
}> {
  let seen = '';
  const answer = await generate(
    {
      messages: [],
      slots: { model: 'test/model', stream, workerMiddleware: halves.map((_half, position) => ({ name: `half${position}` })) },
    },
    {
      models: new ModelRegistry({ providers: { test: { model: () => model } } }, {}),
      tools: new ToolRegistry({}),
      middleware: new WorkerMiddlewareRegistry(
        halves.map((wrapModel, position) => ({ name: `half${position}`, make: () => ({ wrapModel }) })),
      ),
      ...(stallMs === undefined ? {} : { stallMs }),
    },
    { agent: 'agent', id: 'agent/t1/model', attempt: 1, signal: signal ?? new AbortController().signal, ...new CallValues().access() },
    {
      publish(delta) {
        onDelta?.(delta);
        seen += 'text' in delta ? `[${delta.text}]` : `[${delta.type}]`;
      },
    },
  );
  return { answer, seen };
}

const shouting: ModelHalf = {
  async *stream(request, next) {
    for await (const chunk of next(request)) yield chunk.type === 'text' ? { ...chunk, text: chunk.text.toUpperCase() } : chunk;
  },
};

const bracketing: ModelHalf = {
  async generate(request, next) {
    const { message, ...rest } = await next(request);
    return { ...rest, message: { role: 'assistant', parts: [{ type: 'text', text: `(${textOf(message)})` }] } };
  },
};

/** A half that has the whole answer, and waits at its gate. */
function waiting(looksOn = false) {
  const held = gate();
  const looked: string[] = [];
  const generate: ModelHalf['generate'] = async (request, next) => {
    const response = await next(request);
    await held.pass();
    looked.push(textOf(response.message));
    return response;
  };
  return { half: { looksOn, generate }, held, looked };
}

describe('a model call that streams', () => {
  it('is seen as it comes, and its message is the sum', async () => {
    const { answer, seen } = await call({});
    expect(seen).toBe('[one ][two]');
    expect(answer).toMatchObject({ model: 'test/model', usage: { inputTokens: 1, outputTokens: 2 } });
    expect(textOf(answer.message)).toBe('one two');
  });

  it('goes through the stream wraps of worker middleware chunk by chunk, first outermost', async () => {
    const { answer, seen } = await call({ halves: [shouting, bracketing] });
    expect(seen).toBe('[(ONE TWO)]');
    expect(textOf(answer.message)).toBe('(ONE TWO)');
  });

  it('is seen by nobody before a half that knows only whole answers is done with it', async () => {
    const { half, held } = waiting();
    let seen = '';
    const running = call({ halves: [half], onDelta: () => (seen += 'x') });
    await held.reached;
    expect(seen).toBe('');
    held.open();
    expect((await running).seen).toBe('[one two]');
  });

  it('is seen as it comes when such a half only looks on', async () => {
    const { half, held, looked } = waiting(true);
    let seen = '';
    const running = call({ halves: [half], onDelta: () => (seen += 'x') });
    await held.reached;
    while (seen.length < 2) await new Promise((resolve) => setImmediate(resolve));
    held.open();
    const { answer } = await running;
    expect(looked).toEqual(['one two']);
    expect(textOf(answer.message)).toBe('one two');
  });

  it('fails with the error of a half, also of one that only looks on', async () => {
    const failing = (looksOn: boolean): ModelHalf => ({
      looksOn,
      async generate(request, next) {
        await next(request);
        throw new Error('half broken');
      },
    });
    for (const looksOn of [true, false]) await expect(call({ halves: [failing(looksOn)] })).rejects.toThrow('half broken');
  });

  it('shows no deltas of a model that answers whole', async () => {
    const { answer, seen } = await call({ model: { generate: talker.generate.bind(talker) } });
    expect(seen).toBe('');
    expect(textOf(answer.message)).toBe('one two');
  });

  it.each<[string, Part[]]>([
    ['a tool call', [{ type: 'tool-call', id: 'c', name: 't', input: { a: 1 } }]],
    ['a file', [{ type: 'file', mediaType: 'image/png', data: 'AAAA' }]],
  ])('keeps %s', async (_name, parts) => {
    const model = streaming(async function* () {
      for (const part of parts) yield { type: 'part', part };
      yield { type: 'finish', finish: 'length' };
    });
    expect((await call({ model })).answer).toMatchObject({ message: { parts }, finish: 'length' });
  });

  it('fails, worth another attempt, when it breaks off without an end', async () => {
    const model = streaming(async function* () {
      yield { type: 'text', text: 'Hal' };
    });
    await expect(call({ model })).rejects.toMatchObject({ message: expect.stringContaining('broke off'), isRetryable: true });
    await expect(call({ model, halves: [bracketing] })).rejects.toMatchObject({ isRetryable: true });
  });

  it('fails, worth another attempt, when it is silent for too long', async () => {
    const model = streaming(async function* () {
      yield { type: 'text', text: 'One ' };
      await silence();
    });
    const stalled = { message: expect.stringContaining('said nothing'), isRetryable: true };
    await expect(call({ model, stallMs: 20 })).rejects.toMatchObject(stalled);
  });

  it('gives what was said when it is cancelled, without waiting for a provider that does not listen', async () => {
    const abort = new AbortController();
    const model = streaming(async function* () {
      yield { type: 'text', text: 'One ' };
      yield { type: 'part', part: { type: 'tool-call', id: 'c', name: 't', input: {} } };
      await silence();
    });
    const { answer } = await call({ model, signal: abort.signal, onDelta: () => setImmediate(() => abort.abort()) });
    expect(answer).toMatchObject({ finish: 'cancelled', message: { parts: [{ type: 'text', text: 'One ' }] } });
  });

  it('fails as cancelled when nothing was said by then', async () => {
    const abort = new AbortController();
    abort.abort();
    await expect(call({ signal: abort.signal })).rejects.toThrow();
    await expect(call({ signal: abort.signal, stream: 'whole' })).rejects.toThrow();
  });
});

it('a model call that answers whole goes through the generate wraps, and through stream wraps where there is nothing else', async () => {
  const { answer, seen } = await call({ stream: 'whole', halves: [shouting, bracketing] });
  expect(seen).toBe('');
  expect(textOf(answer.message)).toBe('(ONE TWO)');
});
