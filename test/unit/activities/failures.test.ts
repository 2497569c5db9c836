import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  APICallError,
  JSONParseError,
  LoadAPIKeyError,
  NoSuchModelError,
  TypeValidationError,
  UnsupportedFunctionalityError,
} from '@ai-sdk/provider';
import { classify, failureKinds, isCancelled, redact } from '../../../activities/failures';
import { HoldfastError } from '../../../contract/errors';

const request = { url: 'https://example.com/v1', requestBodyValues: { messages: ['the secret plan'] } };
const http = (statusCode: number, fields: object = {}): APICallError =>
  new APICallError({ message: 'refused', statusCode, ...request, ...fields });
const body = (error: object, statusCode = 400): APICallError =>
  http(statusCode, { responseBody: JSON.stringify({ error }), data: { error } });
const coded = (code: string, message = 'x'): Error => Object.assign(new Error(message), { code });
const quota = { type: 'insufficient_quota', code: 'insufficient_quota', message: 'x' };
const caused = (cause: unknown, message = 'The model could not be called.'): Error => new Error(message, { cause });

type Row = readonly [what: string, error: unknown, kind: string, retryable: boolean];
const tooLong = (what: string, message: string, statusCode = 400): Row => [what, http(statusCode, { message }), 'context-exceeded', false];
const perMinute = {
  code: 429,
  status: 'RESOURCE_EXHAUSTED',
  message: 'You exceeded your current quota, please check your plan and billing.',
};
const networkCodes = ['ECONNRESET', 'ECONNREFUSED', 'ENOTFOUND', 'ETIMEDOUT', 'EPIPE', 'EAI_AGAIN', 'UND_ERR_HEADERS_TIMEOUT'];
const inStream = (kind: string, retryable: boolean, ...types: readonly string[]): readonly Row[] =>
  types.map((type) => [`${type} in a stream`, { type, message: 'x' }, kind, retryable]);

describe('a failure of a model call', () => {
  it.each<Row>([
    ['a request that is wrong', http(400), 'http-refused', false],
    ['a wrong key', http(401), 'key-refused', false],
    ['a right that is missing', http(403), 'key-refused', false],
    ['Google: a wrong key', http(400, { message: 'API key not valid. Please pass a valid API key.' }), 'key-refused', false],
    ['no such model', http(404), 'http-refused', false],
    ['a body that is too large', http(413), 'http-refused', false],
    ['a request that nobody understands', http(422), 'http-refused', false],
    ['a timeout there', http(408), 'http-again', true],
    ['a conflict', http(409), 'http-again', true],
    ['a request that came too early', http(425), 'http-again', true],
    ['too many requests', http(429), 'throttled', true],
    ['a broken server', http(500), 'http-again', true],
    ['a server that is away', http(503), 'http-again', true],
    ['an overloaded server', http(529), 'http-again', true],
    ['a status by another name', Object.assign(new Error('x'), { status: 503 }), 'http-again', true],
    ['a status as a code, in a stream', { code: 502, message: 'Provider returned error' }, 'http-again', true],
    ['a status over a flag', http(400, { isRetryable: true }), 'http-refused', false],
    ['a failed answer of OpenAI', http(400, { responseBody: { error: { code: 'server_error', message: 'x' } } }), 'answer-failed', true],
    ['a quota that is used up', body(quota, 429), 'quota-used-up', false],
    ['a quota that is used up, in a stream', quota, 'quota-used-up', false],
    ['Google: a quota of a minute, in the words of one that is used up', body(perMinute, 429), 'throttled', true],
    ['a bill', http(402), 'quota-used-up', false],
    ['OpenAI: too long', body({ code: 'context_length_exceeded', message: 'x' }), 'context-exceeded', false],
    tooLong('Anthropic: too long', 'prompt is too long: 208310 tokens > 200000 maximum'),
    tooLong('Anthropic: too long with the answer', 'input length and `max_tokens` exceed context limit: 199000 + 8000 > 200000'),
    tooLong('Google: too long', 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).'),
    tooLong('others: too long', "This model's maximum context length is 8192 tokens."),
    tooLong('others: too long for a server of their own', 'the request exceeds the available context size', 500),
    ['too many tokens in a minute', http(429, { message: 'Rate limit: exceeds the context window budget.' }), 'throttled', true],
    ['a filter', body({ code: 'content_filter', message: 'x' }), 'refused', false],
    ['a text that is no JSON', new JSONParseError({ text: '{', cause: new SyntaxError('x') }), 'answer-garbled', true],
    ['JSON of another shape', new TypeValidationError({ value: {}, cause: new Error('x') }), 'answer-garbled', true],
    ['a body that is no answer', http(200, { message: 'Invalid JSON response' }), 'answer-garbled', true],
    ['a body that broke off', http(200, { message: 'Failed', cause: coded('UND_ERR_SOCKET', 'other side closed') }), 'network', true],
    ['something that the provider has not', new UnsupportedFunctionalityError({ functionality: 'x' }), 'not-supported', false],
    ['a model that the provider has not', new NoSuchModelError({ modelId: 'x', modelType: 'languageModel' }), 'not-supported', false],
    ['a key that is not there', new LoadAPIKeyError({ message: 'x' }), 'not-supported', false],
    ['no network', new TypeError('fetch failed'), 'network', true],
    ['a broken connection', Object.assign(new TypeError('terminated'), { code: 'UND_ERR_SOCKET' }), 'network', true],
    ...networkCodes.map((code): Row => [code, coded(code), 'network', true]),
    ['a network error that was wrapped twice', caused(caused(coded('ECONNRESET'))), 'network', true],
    ['a refusal that was wrapped', caused(http(400)), 'http-refused', false],
    ['a refusal after attempts of others', Object.assign(new Error('x'), { lastError: http(429) }), 'throttled', true],
    ...inStream('provider-busy', true, 'overloaded_error', 'api_error', 'server_error', 'UNAVAILABLE'),
    ...inStream('throttled', true, 'rate_limit_error'),
    ...inStream('request-wrong', false, 'invalid_request_error', 'not_found_error'),
    ...inStream('key-refused', false, 'authentication_error', 'permission_error', 'UNAUTHENTICATED'),
    ['a wrong request behind a status', http(500, { responseBody: '{"type":"invalid_request_error"}' }), 'request-wrong', false],
    ['a flag that says yes', Object.assign(new Error('x'), { isRetryable: true }), 'client-says-again', true],
    ['a flag that says no', Object.assign(new Error('x'), { isRetryable: false }), 'client-says-no', false],
    ['a bug in the adapter', new TypeError('x is not a function'), 'defect', false],
    ['an error of Holdfast', new HoldfastError('config-invalid', 'x'), 'own', false],
    ['an answer that is too large', new HoldfastError('model-response-too-large', 'x'), 'own', false],
    ['an error of Holdfast that was wrapped', caused(new HoldfastError('config-invalid', 'x')), 'own', false],
    ['what this worker lacks', new HoldfastError('model-key-missing', 'x'), 'own-again', true],
    ['an empty answer', new HoldfastError('model-response-empty', 'x'), 'own-again', true],
    ['an empty answer that will stay so', new HoldfastError('model-response-empty', 'x', { details: { retryable: false } }), 'own', false],
    ['a stream that broke off', new HoldfastError('model-failed', 'x', { details: { retryable: true } }), 'own-again', true],
    ['a word of ours that others have too', coded('cancelled'), 'unknown', true],
    ['an error of no kind', new Error('x'), 'unknown', true],
    ['a text', 'x', 'unknown', true],
    ['nothing', undefined, 'unknown', true],
  ])('%s', (_, error, kind, retryable) => expect(classify(error)).toMatchObject({ kind, retryable }));

  it.each<[unknown, string]>([
    [http(500), 'model-failed'],
    ['x', 'model-failed'],
    [body({ code: 'context_length_exceeded', message: 'x' }), 'model-context-exceeded'],
    [body({ code: 'content_filter', message: 'x' }), 'model-refused'],
    [http(401), 'model-key-refused'],
    [new HoldfastError('model-key-missing', 'x'), 'model-key-missing'],
    [new HoldfastError('model-response-empty', 'x'), 'model-response-empty'],
    [caused(new HoldfastError('model-unknown', 'x')), 'model-unknown'],
  ])('has a code: %s', (error, code) => expect(classify(error).code).toBe(code));

  it.each<[string, unknown, string | undefined]>([
    ['that has enough', http(429), 'provider'],
    ['that says when to come back', http(503, { responseHeaders: { 'retry-after': '7' } }), 'provider'],
    ['that is broken', http(503), undefined],
    ['whose quota is used up', http(429, { data: { error: { code: 'insufficient_quota', message: 'x' } } }), undefined],
  ])('is waited for when it is of a provider %s', (_, error, waitsFor) => expect(classify(error).waitsFor).toBe(waitsFor));

  it('has a row of its own for each kind, and one for the rest at the end', () => {
    expect(failureKinds.at(-1)!.kind).toBe('unknown');
    expect(new Set(failureKinds.map(({ kind }) => kind)).size).toBe(failureKinds.length);
  });

  it('is told to people with the same table', () => {
    const rows = readFileSync(join(__dirname, '..', '..', '..', 'docs', 'reference', 'models.md'), 'utf8')
      .split('\n')
      .map((line) => line.split('|').map((cell) => cell.replace(/`/g, '').trim()))
      .filter(([, first]) => failureKinds.some(({ kind }) => kind === first))
      .map(([, kind, , again, code]) => [kind, again, code]);
    expect(rows).toEqual(
      failureKinds.map(({ kind, retryable, code }) => [
        kind,
        retryable ? 'yes' : 'no',
        code ?? (kind.startsWith('own') ? 'its own' : 'model-failed'),
      ]),
    );
  });
});

describe('the time to wait', () => {
  const waitOf = (responseHeaders: Readonly<Record<string, string | number>>, status = 429): number | undefined =>
    classify(http(status, { responseHeaders })).retryAfterMs;

  it.each<[Readonly<Record<string, string | number>>, number | undefined]>([
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': '1.5' }, 1500],
    [{ 'Retry-After': '7' }, 7000],
    [{ 'retry-after': 7 }, 7000],
    [{ 'retry-after-ms': '250', 'retry-after': '7' }, 250],
    [{ 'retry-after-ms': 'soon', 'retry-after': '7' }, 7000],
    [{ 'retry-after': '86400' }, 600_000],
    [{ 'retry-after': '-7' }, undefined],
    [{ 'retry-after': '0' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '' }, undefined],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }, undefined],
    [{}, undefined],
  ])('in %j is %p', (headers, expected) => expect(waitOf(headers)).toBe(expected));

  it('may be a date', () => {
    const wait = waitOf({ 'retry-after': new Date(Date.now() + 60_000).toUTCString() }) ?? 0;
    expect(wait).toBeGreaterThan(50_000);
    expect(wait).toBeLessThanOrEqual(60_000);
  });

  it('may be in the headers of another client, in a cause, or in the body as with Google', () => {
    expect(classify({ status: 503, headers: new Headers({ 'retry-after': '3' }) }).retryAfterMs).toBe(3000);
    expect(classify(caused(http(503, { responseHeaders: { 'retry-after': '3' } }))).retryAfterMs).toBe(3000);
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34s' }];
    expect(classify(body({ code: 429, status: 'RESOURCE_EXHAUSTED', message: 'x', details }, 429)).retryAfterMs).toBe(34_000);
  });

  it('says nothing where there is no other attempt', () => {
    expect(waitOf({ 'retry-after': '7' }, 400)).toBeUndefined();
  });
});

describe('the message', () => {
  it('is what the provider said, with the status', () => {
    expect(classify(http(400)).message).toBe('refused (HTTP 400)');
    expect(classify(http(422, { message: '', responseBody: '{"detail":"No such model."}' })).message).toBe('No such model. (HTTP 422)');
    expect(classify(http(400, { message: 'Bad Request', responseBody: '[{"error":{"message":"Wrong."}}]' })).message).toBe(
      'Bad Request: Wrong. (HTTP 400)',
    );
    expect(classify(http(500, { message: '' })).message).toBe('The provider gave no reason (HTTP 500)');
    expect(classify(caused(coded('ECONNRESET', 'read ECONNRESET'), 'fetch failed')).message).toBe('fetch failed: read ECONNRESET');
    expect(classify('plain').message).toBe('plain');
  });

  it('is short, and repeats neither the request nor a body that nobody knows', () => {
    expect(classify(http(400, { message: 'x'.repeat(5000) })).message.length).toBeLessThan(1100);
    const echoed = { message: 'Unprocessable Entity', responseBody: '{"detail":[{"input":"the secret plan"}]}' };
    expect(classify(http(422, echoed)).message).toBe('Unprocessable Entity (HTTP 422)');
    const garbled = new JSONParseError({ text: 'y'.repeat(5000), cause: new SyntaxError('x') });
    expect(classify(garbled).message.length).toBeLessThan(250);
  });

  it.each([
    ['Incorrect API key provided: sk-proj-abc***wxyz.', 'Incorrect API key provided: [key]'],
    ['Authorization: Bearer abc123def456', 'Authorization: Bearer [key]'],
    ['https://example.com/?alt=sse&key=AIzaSyA-1234567890abcdef', 'https://example.com/?alt=sse&key=[key]'],
    ['API_KEY_INVALID AIzaSyA-1234567890abcdef', 'API_KEY_INVALID [key]'],
    ['{"x-api-key": "0123456789"}', '{"x-api-key": "[key]"}'],
    ['Bearer authentication is needed; max_tokens is 5', 'Bearer authentication is needed; max_tokens is 5'],
  ])('has no key in it: %s', (text, expected) => {
    expect(redact(text)).toBe(expected);
    expect(classify(new Error(text)).message).toBe(expected);
  });
});

it('is a cancellation when the call was cancelled', () => {
  const abort = new AbortController();
  expect(isCancelled(new Error('x'), abort.signal)).toBe(false);
  abort.abort();
  expect(isCancelled(new DOMException('aborted', 'AbortError'), abort.signal)).toBe(true);
});
