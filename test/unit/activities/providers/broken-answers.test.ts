import { classify } from '../../../../activities/failures';
import { gate } from '../../../support/gate';
import type { FakeAnswer, FakeProvider, FakeStep } from '../../../support/fake-provider/fake-provider';
import { startFakeProvider } from '../../../support/fake-provider/fake-provider';
import type { StreamingModel } from '../../../support/fake-provider/real-clients';
import { askedWith, chunksOf, modelOf, realClients } from '../../../support/fake-provider/real-clients';
import { z } from 'zod';
import type { Json } from '../../../../contract/messages/messages';
import { notJson } from '../../../../contract/messages/messages';
import { defineTool } from '../../../../activities/tools/define-tool';
import { EventsQuery } from '../../../../service/http/schemas';
import type { GenerateRequest, LanguageModel } from '../../../../activities/models/language-model';
import { appOn } from '../../../support/service-app';
import { scriptedModel, testRun } from '../../../../testing';
import { parsedBy } from '../../../../kernel/define/workflow-tools';
import { defineAgent } from '../../../../workflows';
import { failureSaying } from '../../../support/failures';

let fake: FakeProvider;
beforeEach(async () => (fake = await startFakeProvider()));
afterEach(() => fake.close());

const key = 'sk-test-0123456789abcdef';
const three: FakeAnswer = { blocks: [{ type: 'text', text: ['One', ' two', ' three'] }] };

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

  /** One request each, because clients do not retry. */
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

const refund = defineTool({
  description: 'Pays back.',
  inputSchema: z.object({ orderId: z.string() }),
  execute: ({ orderId }) => ({ orderId }),
});
const support = defineAgent({ name: 'support', description: 'd', instructions: 'i', model: 'm/x', tools: ['refund'] });

async function toldOf(name: string, input: Json): Promise<string> {
  const requests: GenerateRequest[] = [];
  const model: LanguageModel = {
    generate: async (request) =>
      requests.push(request) === 1
        ? { parts: [{ type: 'tool-call', id: 'c', name, input }] }
        : { parts: [{ type: 'text', text: 'Done.' }] },
  };
  const run = await testRun(support, { input: 'Go', model, tools: { refund } });
  expect((await run.outcome()).status).toBe('completed');
  const result = requests[1]?.messages.at(-1)?.parts[0];
  return result?.type === 'tool-result' ? String(result.output) : 'nothing';
}

describe('arguments that are not JSON', () => {
  // Every version of Node words the reason differently: a quote or a position.
  it.each([
    ['{"orderId": "42"', /position 16/],
    ['{"orderId": "4', /position 14/],
    ["{'orderId': 42}", /position 1\b/],
    ['{"orderId": 42,}', /position 15/],
    ['{"orderId": undefined}', /'u'/],
    ['{"orderId": "4\n2"}', /position 14/],
    ['{"orderId": "4\\x2"}', /position 15/],
    ['{"orderId": "42"} and more', /position 18/],
    ['Sure! I will call it.', /'S', "Sure! /],
  ])('are told as such, with what JSON.parse says of them: %j', async (text, place) => {
    const said = await toldOf('refund', text);
    expect(said).toMatch(/^The arguments of 'refund' are not JSON that can be read: .*\. Send them again as one JSON object\.$/);
    expect(said).toMatch(place);
    expect(said).not.toContain('expected object');
  });

  it('are told by workflow code without the words of one version of Node', async () => {
    const spec = { name: 'accept', description: 'd', inputSchema: { type: 'object', properties: {} } };
    expect(parsedBy(spec, '{"a": ')).toEqual({
      ok: false,
      message: "The arguments of 'accept' are not JSON that can be read. Send them again as one JSON object.",
    });
  });

  it('may be nested as deep as they like', async () => {
    expect(await toldOf('refund', '['.repeat(100_000))).toMatch(/not JSON that can be read: /);
    expect(await toldOf('refund', `${'['.repeat(100_000)}${']'.repeat(100_000)}`)).toMatch(/not JSON that can be read: /);
  });
});

describe('a tool call without a name', () => {
  const chat = realClients.find(({ name }) => name === 'openai-compatible')!;

  it('is in no way lost in a stream, beside other calls or alone', async () => {
    const model = await modelOf(chat, fake);
    const chunk = (delta: object, finish: string | null = null): string =>
      `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    const call = (index: number, name: string): string =>
      chunk({ tool_calls: [{ index, id: `c${index}`, type: 'function', function: { name, arguments: `{"orderId":"${index}"}` } }] });
    const body = (...calls: string[]): string => `${calls.join('')}${chunk({}, 'tool_calls')}data: [DONE]\n\n`;
    fake.answer(
      { body: body(call(0, ''), call(1, 'refund')), contentType: 'text/event-stream' },
      { body: body(call(7, ' ')), contentType: 'text/event-stream' },
      { blocks: [{ type: 'tool-call', name: '', input: { orderId: '7' } }] },
    );
    const streamed = async (): Promise<readonly unknown[]> => {
      const parts: unknown[] = [];
      for await (const chunk of model.stream(askedWith())) if (chunk.type === 'part') parts.push(chunk.part);
      return parts;
    };
    expect(await streamed()).toEqual([
      expect.objectContaining({ name: 'refund', input: { orderId: '1' } }),
      expect.objectContaining({ type: 'tool-call', name: '', input: { orderId: '0' } }),
    ]);
    expect(await streamed()).toEqual([expect.objectContaining({ name: '', input: { orderId: '7' } })]);
    const { parts } = await model.generate(askedWith());
    expect(parts).toEqual([expect.objectContaining({ name: '', input: { orderId: '7' } })]);
  });

  it('is an answer that cannot be used, and names the call, streamed as it is whole', async () => {
    const body = {
      id: 'x',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [
        { index: 0, delta: { tool_calls: [{ index: 0, id: 'c7', function: { name: '', arguments: '{}' } }] }, finish_reason: 'tool_calls' },
      ],
    };
    fake.answer({ body: `data: ${JSON.stringify(body)}\n\ndata: [DONE]\n\n`, contentType: 'text/event-stream' });
    const run = await testRun(support, { input: 'Go', model: await modelOf(chat, fake), tools: { refund } });
    expect(await run.outcome()).toMatchObject(
      failureSaying('model-response-invalid', 'tool call function name is empty, in the call "c7"'),
    );
  });
});

describe('keys that objects have of their own', () => {
  const polluted = JSON.parse('{"__proto__": {"admin": true}, "a": 1}') as Json;

  it('are no JSON that can be kept, at any depth, when they are __proto__', async () => {
    expect(notJson(polluted)).toContain('the value has the key "__proto__"');
    expect(notJson({ a: [polluted] })).toContain('a[0] has the key "__proto__"');
    for (const option of [
      { values: polluted },
      { options: { toolOptions: { refund: polluted } } },
      { settings: { providerOptions: polluted } },
    ] as object[])
      await expect(
        testRun(support, { input: 'Go', model: scriptedModel([{ text: 'x' }]), tools: { refund }, ...option }),
      ).rejects.toMatchObject({
        code: expect.stringMatching(/^(input|options)-invalid$/) as string,
        message: expect.stringContaining('__proto__') as string,
      });
    expect(await toldOf('refund', '{"orderId": "1", "__proto__": {"admin": true}}')).toContain('the value has the key "__proto__"');
    expect(({} as { admin?: unknown }).admin).toBeUndefined();
  });

  it('are refused in bodies and queries of the service', async () => {
    const app = appOn({}, { agents: [{ name: 'support', description: 'd', takesJob: false }] });
    for (const field of ['values', 'options', 'settings'])
      for (const inner of ['{"__proto__":{"a":1}}', '{"x":{"__proto__":1}}']) {
        const response = await app.request('/runs', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: `{"agent":"support","input":"hi","${field}":${inner}}`,
        });
        expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('__proto__') as string]);
      }
    expect((await app.request('/agents?__proto__=1')).status).toBe(400);
    expect(EventsQuery.safeParse({ constructor: '1' }).success).toBe(false);
  });

  it('are plain data when they are others', async () => {
    const values = { constructor: 'c', prototype: { toString: 1 }, hasOwnProperty: true } as unknown as Record<string, Json>;
    const seen: unknown[] = [];
    const look = defineAgent({
      ...{ name: 'look', description: 'd', instructions: 'i', model: 'm/x', tools: [] },
      middleware: [
        {
          name: 'looker',
          beforeAgent: (_state, ctx) => {
            seen.push(['constructor', 'prototype', 'hasOwnProperty', 'valueOf'].map((key) => [ctx.values[key], ctx.session.get(key)]));
          },
        },
      ],
    });
    const run = await testRun(look, { input: 'Go', model: scriptedModel([{ text: 'x' }]), values });
    expect((await run.outcome()).status).toBe('completed');
    expect(seen).toEqual([
      [
        ['c', undefined],
        [{ toString: 1 }, undefined],
        [true, undefined],
        [undefined, undefined],
      ],
    ]);
  });
});
