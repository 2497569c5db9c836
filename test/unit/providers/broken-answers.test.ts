import { classify } from '../../../activities/failures';
import { gate } from '../../support/gate';
import type { FakeAnswer, FakeProvider, FakeStep } from '../../support/fake-provider/fake-provider';
import { startFakeProvider } from '../../support/fake-provider/fake-provider';
import type { StreamingModel } from '../../support/fake-provider/real-clients';
import { askedWith, chunksOf, modelOf, realClients } from '../../support/fake-provider/real-clients';

let fake: FakeProvider;
beforeEach(async () => (fake = await startFakeProvider()));
afterEach(() => fake.close());

const key = 'sk-test-0123456789abcdef';
const three: FakeAnswer = { blocks: [{ type: 'text', text: ['One', ' two', ' three'] }] };

/** What the worker makes of a call that goes wrong. */
async function verdictOn(call: Promise<unknown>): Promise<ReturnType<typeof classify>> {
  const error: unknown = await call.then(
    (answer) => Promise.reject(new Error(`It answered ${JSON.stringify(answer)}.`)),
    (thrown: unknown) => thrown,
  );
  return classify(error);
}

describe.each(realClients)('$name', (client) => {
  let model: StreamingModel;
  beforeEach(async () => (model = await modelOf(client, fake, key)));

  /** The same failure, whole and in a stream, of one request each: clients do not try again. */
  async function bothVerdicts(step: FakeStep): Promise<ReturnType<typeof classify>> {
    fake.answer(step, step);
    const whole = await verdictOn(model.generate(askedWith()));
    expect(await verdictOn(chunksOf(model.stream(askedWith())))).toEqual(whole);
    expect(fake.requests).toHaveLength(2);
    return whole;
  }

  it('that is asked too often is asked again when it says so', async () => {
    const busy = { status: 429, message: 'Slow down.', type: client.name === 'google' ? 'RESOURCE_EXHAUSTED' : 'rate_limit_error' };
    expect(await bothVerdicts({ error: busy, headers: { 'retry-after': '7' } })).toEqual({
      kind: 'throttled',
      waitsFor: 'provider',
      code: 'model-failed',
      retryable: true,
      retryAfterMs: 7000,
      message: 'Slow down. (HTTP 429)',
    });
  });

  it('that is broken is asked again', async () => {
    expect(await bothVerdicts({ error: { status: 500, message: 'Oh no.', type: 'api_error' } })).toMatchObject({
      retryable: true,
      message: 'Oh no. (HTTP 500)',
    });
    fake.answer({ error: { status: 502, message: '' }, headers: { 'content-type': 'text/html' }, body: '<html>Bad gateway</html>' });
    expect(await verdictOn(model.generate(askedWith()))).toMatchObject({ retryable: true, message: 'Bad Gateway (HTTP 502)' });
  });

  it('that refuses a request is not asked again', async () => {
    expect(await bothVerdicts({ error: { status: 400, message: 'No such parameter.' } })).toEqual({
      kind: 'http-refused',
      code: 'model-failed',
      retryable: false,
      message: 'No such parameter. (HTTP 400)',
    });
  });

  it('that cannot read so much says that it is the context', async () => {
    const texts = {
      openai: { message: 'Your input exceeds the context window of this model.', code: 'context_length_exceeded' },
      'openai-compatible': { message: "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens." },
      anthropic: { message: 'prompt is too long: 208310 tokens > 200000 maximum' },
      google: { message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).' },
    };
    expect(await bothVerdicts({ error: { status: 400, ...texts[client.name] } })).toMatchObject({
      code: 'model-context-exceeded',
      retryable: false,
    });
  });

  it('is asked again when the connection breaks in the middle of an answer', async () => {
    fake.answer({ ...three, cut: { after: 2, how: 'disconnect' } });
    const heard: string[] = [];
    const verdict = await verdictOn(
      (async () => {
        for await (const chunk of model.stream(askedWith())) if (chunk.type === 'text') heard.push(chunk.text);
      })(),
    );
    expect(heard.join('')).toBe('One two');
    expect(verdict).toMatchObject({ code: 'model-failed', retryable: true });
  });

  it('is asked again when the answer ends before its end', async () => {
    fake.answer({ ...three, cut: { after: 2, how: 'end' } });
    expect(await verdictOn(chunksOf(model.stream(askedWith())))).toMatchObject({
      code: 'model-failed',
      retryable: true,
      message: expect.stringMatching(/broke off|without a finish reason/),
    });
  });

  it('is asked again when it cannot be understood', async () => {
    fake.answer(
      { ...three, cut: { after: 1, how: 'garble' } },
      { body: '{"nothing": ' },
      { body: '{"choices": 1, "output": 1, "candidates": 1}' },
    );
    expect(await verdictOn(chunksOf(model.stream(askedWith())))).toMatchObject({ kind: 'answer-garbled', retryable: true });
    expect(await verdictOn(model.generate(askedWith()))).toMatchObject({ kind: 'answer-garbled', retryable: true });
    expect(await verdictOn(model.generate(askedWith()))).toMatchObject({ kind: 'answer-garbled', retryable: true });
  });

  it('is asked again when it says in the middle of an answer that it has too much to do', async () => {
    const type = client.name === 'google' ? 'UNAVAILABLE' : client.name === 'anthropic' ? 'overloaded_error' : 'server_error';
    for (const after of [0, 1]) {
      fake.answer({ ...three, cut: { after, how: { message: 'Too much to do.', type } } });
      expect(await verdictOn(chunksOf(model.stream(askedWith())))).toMatchObject({
        retryable: true,
        message: expect.stringContaining('Too much to do.'),
      });
    }
  });

  it('is not asked again when it says in the middle of an answer that the request is wrong', async () => {
    const wrong = client.name === 'google' ? { status: 400, type: 'INVALID_ARGUMENT' } : { type: 'invalid_request_error' };
    for (const after of [0, 1]) {
      fake.answer({ ...three, cut: { after, how: { message: 'Wrong.', ...wrong } } });
      expect(await verdictOn(chunksOf(model.stream(askedWith())))).toMatchObject({ retryable: false });
    }
  });

  it.each([0, 2])('that is silent after %d pieces is left when the call is aborted', async (pieces) => {
    const silence = gate();
    fake.answer({ ...three, before: (index) => (index === pieces ? silence.pass() : undefined) });
    const abort = new AbortController();
    const reading = chunksOf(model.stream(askedWith({ signal: abort.signal })));
    void silence.reached.then(() => abort.abort());
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
    expect(await fake.requests[0]!.over).toBe('broken');
  });

  it('is left when nobody listens any more', async () => {
    fake.answer({ ...three, cut: { after: 1, how: 'stall' } });
    for await (const chunk of model.stream(askedWith())) if (chunk.type === 'text' && chunk.text !== '') break;
    expect(await fake.requests[0]!.over).toBe('broken');
  });

  it('is left by whoever waits for it in vain', async () => {
    const silence = gate();
    fake.answer({ ...three, before: (index) => (index === 1 ? silence.pass() : undefined) });
    const iterator = model.stream(askedWith())[Symbol.asyncIterator]();
    const waiting = (async () => {
      while ((await iterator.next()).done !== true);
    })();
    await silence.reached;
    void iterator.return!();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
    expect(await fake.requests[0]!.over).toBe('broken');
  });

  it.each<[string, FakeAnswer, object]>([
    ['nothing', { blocks: [] }, { code: 'model-response-empty', retryable: true }],
    ['a blank', { blocks: [{ type: 'text', text: '\n' }] }, { code: 'model-response-empty', retryable: true }],
    ['only thoughts', { blocks: [{ type: 'reasoning', text: 'Hm.' }] }, { code: 'model-response-empty', retryable: true }],
    ['only thoughts, with no token left', { blocks: [{ type: 'reasoning', text: 'Hm.' }], finish: 'length' }, { retryable: false }],
    ['nothing because of its filter', { blocks: [], finish: 'content-filter' }, { code: 'model-refused', retryable: false }],
  ])('that says %s has not answered', async (_, answer, verdict) => {
    expect(await bothVerdicts(answer)).toMatchObject(verdict);
  });

  it('never gets its key into a message', async () => {
    const message = `Incorrect API key provided: ${key}. Authorization: Bearer ${key}`;
    expect((await bothVerdicts({ error: { status: 401, message } })).message).not.toContain(key);
    const plain = await modelOf(client, fake, 'correct horse battery');
    fake.answer({ error: { status: 401, message: 'The key "correct horse battery" is unknown.' } });
    expect((await verdictOn(plain.generate(askedWith()))).message).toBe('The key "[key]" is unknown. (HTTP 401)');
  });

  it('is asked again when nobody is there', async () => {
    const { url } = fake;
    await fake.close();
    expect(await verdictOn((await modelOf(client, { url })).generate(askedWith()))).toMatchObject({ kind: 'network', retryable: true });
    fake = await startFakeProvider();
  });
});
