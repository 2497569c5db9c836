import { connect } from 'node:net';
import Ajv2020 from 'ajv/dist/2020';
import type { ValidateFunction } from 'ajv';
import { ServiceClient } from '../../client/http/index';
import { openApiOf } from '../../service/http/openapi/document';
import { eventually } from '../support/eventually';
import { gate } from '../support/gate';
import { allOf } from '../support/all-of';
import { operationsWithoutAccess as operations, serviceApp } from '../support/service-app';
import type { ServiceBed } from './service-bed';
import { startServiceBed } from './service-bed';

/* Every route of the document through the typed client; answers must match the document without extra fields. */

let bed: ServiceBed;
beforeAll(async () => {
  bed = await startServiceBed();
});
afterAll(() => bed.close());

type Schema = Record<string, unknown>;
const document = openApiOf('test', serviceApp);

/** Closes the schema, so that extra fields fail. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inside = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  const isOpen = 'properties' in inside && !('additionalProperties' in inside) && Object.keys(inside['properties'] as object).length > 0;
  return isOpen ? { ...inside, additionalProperties: false } : inside;
}

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ $id: 'document', components: closed(document.components) });
const validators = new Map<string, ValidateFunction>();

function problemOf(route: string, status: number, body: unknown): string | undefined {
  const [method = '', path = ''] = route.split(' ');
  const { responses } = document.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()] as {
    readonly responses: Record<string, { readonly content?: Record<string, { readonly schema: Schema }> }>;
  };
  const answer = responses[String(status)] ?? responses['default'];
  const schema = Object.values(answer?.content ?? {})[0]?.schema;
  if (schema === undefined) return `The document has no answer ${status} of ${route}.`;
  const text = JSON.stringify(closed(schema)).replaceAll('"#/components/', '"document#/components/');
  const validate = validators.get(text) ?? ajv.compile(JSON.parse(text) as Schema);
  validators.set(text, validate);
  return validate(body) ? undefined : `${route} ${status}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`;
}

const asked = new Set<string>();
const problems: string[] = [];

function routeOf(method: string, path: string): string {
  const parts = path.split('/');
  const found = Object.keys(operations).filter((route) => {
    const [wanted, form = ''] = route.split(' ');
    const named = form.split('/');
    return wanted === method && named.length === parts.length && named.every((part, at) => part.startsWith(':') || part === parts[at]);
  });
  // A literal word wins over a parameter, as in the app.
  return found.sort((a, b) => a.split(':').length - b.split(':').length)[0] ?? `${method} ${path}`;
}

const checked: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  const route = routeOf(init?.method ?? 'GET', new URL(String(input)).pathname);
  asked.add(route);
  if (!/[/+]json\b/.test(response.headers.get('content-type') ?? '')) return response;
  const problem = problemOf(route, response.status, await response.clone().json());
  if (problem !== undefined) problems.push(problem);
  return response;
};

const client = (): ServiceClient => new ServiceClient(`${bed.url}/`, { fetch: checked, headers: { 'x-team': 'desk' } });

it('starts, follows, answers and lists runs', async () => {
  const holdfast = client();
  const agent = (await holdfast.agents()).find(({ name }) => name === 'support');
  expect(agent).toMatchObject({ name: 'support', takesJob: false });
  const input = 'Refund order 42, it arrived broken';
  const run = await holdfast.start({ agent: 'support', input, id: 'typed', tags: ['desk'], by: 'ada' });
  expect(run).toMatchObject({ id: 'typed', isNew: true });
  expect(await holdfast.start({ agent: 'support', input, id: 'typed', tags: ['other'] })).toMatchObject({
    isNew: false,
    ignored: ['tags'],
  });
  const events = await allOf(holdfast.events('typed', { until: 'waiting' }));
  expect(events.at(0)?.type).toBe('run-start');
  const [interrupt] = await holdfast.interruptsOf('typed');
  expect((await eventually(async () => (await holdfast.interrupts({ tag: ['desk'], limit: 5 })).interrupts[0])).runId).toBe('typed');
  expect((await holdfast.list({ status: 'waiting', tag: ['desk'], total: true })).total).toBe(1);
  await expect(holdfast.answer('typed', interrupt?.id ?? '', { decision: 'approve', by: 'bob', inputHash: 'other' })).rejects.toMatchObject(
    {
      code: 'answer-stale',
    },
  );
  await holdfast.answer('typed', interrupt?.id ?? '', { decision: 'approve', by: 'bob' });
  const rest = await allOf(holdfast.liveEvents('typed', { from: events.length }));
  expect(rest.at(-1)?.type).toBe('run-end');
  expect(await holdfast.view('typed')).toMatchObject({ status: 'completed', startedBy: 'ada' });
  expect((await holdfast.transcript('typed')).at(0)).toMatchObject({ role: 'user' });
});

it('stops runs, and lets them go on', async () => {
  const holdfast = client();
  await holdfast.start({ agent: 'support', input: 'Refund order 42, it arrived broken', id: 'stopped' });
  await allOf(holdfast.events('stopped', { until: 'waiting' }));
  await expect(holdfast.retry('stopped')).rejects.toMatchObject({ code: expect.stringMatching(/retry|run-/) });
  expect(await holdfast.upgrade('stopped')).toMatchObject({ moved: false });
  await holdfast.cancel('stopped', { reason: 'Enough.', by: 'ada' });
  await allOf(holdfast.events('stopped'));
  expect(await holdfast.view('stopped')).toMatchObject({ status: 'cancelled', cancelled: { reason: 'Enough.' } });
  await holdfast.resume('stopped', { by: 'ada' });
  await allOf(holdfast.events('stopped', { until: 'waiting' }));
  await holdfast.terminate('stopped', 'For good.');
  expect((await holdfast.view('stopped')).status).toBe('failed');
});

it('answers and stops many at once, and says of each what became of it', async () => {
  const holdfast = client();
  const ids = ['many-1', 'many-2', 'many-3'];
  for (const id of ids) await holdfast.start({ agent: 'support', input: 'Refund order 42, it arrived broken', id });
  await Promise.all(ids.map((id) => allOf(holdfast.events(id, { until: 'waiting' }))));
  const open = await Promise.all(ids.map(async (id) => ({ runId: id, interruptId: (await holdfast.interruptsOf(id))[0]?.id ?? '' })));
  const [first, second] = open as [(typeof open)[0], (typeof open)[0]];
  const answers = [
    { ...first, decision: 'approve' as const, by: 'ada' },
    { ...second, decision: 'reject' as const, feedback: 'No.' },
    { ...first, interruptId: 'nobody', decision: 'approve' as const },
  ];
  expect(await holdfast.answerAll(answers)).toEqual([
    first,
    second,
    { ...first, interruptId: 'nobody', error: { code: 'interrupt-unknown', message: expect.any(String) } },
  ]);
  await Promise.all(['many-1', 'many-2'].map((id) => allOf(holdfast.events(id))));
  expect(await holdfast.cancelAll(['many-3', 'many-1', 'nobody'], { reason: 'Enough.' })).toEqual([
    { id: 'many-3' },
    { id: 'many-1', error: { code: 'run-ended', message: expect.any(String) } },
    { id: 'nobody', error: { code: 'run-unknown', message: expect.any(String) } },
  ]);
  expect(await holdfast.retryAll(['many-1'])).toMatchObject([{ id: 'many-1', error: { code: expect.any(String) } }]);
  await expect(holdfast.answerAll([answers[0]!, { ...first, decision: 'reject' }])).rejects.toMatchObject({ code: 'request-invalid' });
  await expect(holdfast.cancelAll([])).rejects.toMatchObject({ code: 'request-invalid' });
  await expect(holdfast.cancelAll(Array.from({ length: 501 }, String))).rejects.toMatchObject({ code: 'request-invalid' });
});

it('talks', async () => {
  const holdfast = client();
  const receipt = await holdfast.send('talk', { agent: 'support', message: 'Hello', id: 'm1', by: 'Ann', title: 'A talk' });
  expect(receipt).toEqual({ id: 'm1', turn: 1 });
  await allOf(holdfast.events('talk', { until: 'waiting' }));
  expect(await holdfast.conversation('talk')).toMatchObject({ status: 'idle', turn: 1, title: 'A talk' });
  expect((await holdfast.messages('talk', { limit: 2 })).messages.at(-1)).toMatchObject({ message: { role: 'assistant' } });
  await holdfast.pause('talk', 'Ann');
  await holdfast.send('talk', { message: 'Later', id: 'm2' });
  await holdfast.change('talk', 'm2', { message: 'Much later' });
  expect(await holdfast.queue('talk')).toMatchObject([{ id: 'm2', message: { parts: [{ text: 'Much later' }] } }]);
  await holdfast.withdraw('talk', 'm2', 'Ann');
  await holdfast.unpause('talk');
  await holdfast.rename('talk', 'Another name');
  await holdfast.stop('talk').catch((error: unknown) => expect(error).toMatchObject({ code: expect.any(String) }));
  await holdfast.end('talk', { by: 'Ann' });
  expect((await allOf(holdfast.events('talk'))).at(-1)?.type).toBe('run-end');
});

it('reads policies, and says of one that there is not that there is none', async () => {
  const holdfast = client();
  await holdfast.policies();
  await expect(holdfast.applyPolicy('none', { to: 'waiting', dryRun: true })).rejects.toMatchObject({ code: 'policy-unknown' });
});

it('says what it serves and has used, what a call was asked, and what an upgrade of many would do', async () => {
  const holdfast = client();
  expect((await holdfast.service()).agents.map(({ name }) => name)).toContain('support');
  expect(await holdfast.counts()).toMatchObject({ running: expect.any(Number), waiting: expect.any(Number) });
  expect(Array.isArray((await holdfast.builds()).builds)).toBe(true);
  expect(await holdfast.usage({ by: 'agent' })).toMatchObject({ rows: expect.any(Array) });
  await holdfast.start({ agent: 'support', input: 'Refund order 42, it arrived broken', id: 'asked' });
  const events = await allOf(holdfast.events('asked', { until: 'waiting' }));
  const [address = ''] = events.flatMap((event) => (event.type === 'model-start' ? [event.address] : []));
  expect(await holdfast.call('asked', address)).toMatchObject({ kind: 'model', status: 'completed' });
  expect(await holdfast.executions('asked')).toMatchObject({ executions: [{ began: 'started', build: expect.any(String) }], more: false });
  await expect(holdfast.executions('nobody')).rejects.toMatchObject({ code: 'run-unknown' });
  expect(await holdfast.upgradeAll(['asked', 'nobody'], { dryRun: true })).toMatchObject([
    { id: 'asked' },
    { id: 'nobody', error: { code: 'run-unknown' } },
  ]);
});

it('sets and fires schedules, takes batches, and says what the service does not have', async () => {
  const holdfast = client();
  const spec = { cron: '0 0 1 1 *', start: { agent: 'support', input: 'Hello' } };
  expect(await holdfast.setSchedule('typed', spec)).toMatchObject({ name: 'typed', source: 'api', next: expect.any(Array) });
  await eventually(async () => ((await holdfast.schedules()).length > 0 ? true : undefined));
  await holdfast.pauseSchedule('typed', { note: 'holidays' });
  await holdfast.resumeSchedule('typed');
  await holdfast.runSchedule('typed');
  expect(await holdfast.backfillSchedule('typed', { since: '1h', until: '30m' })).toEqual({ times: 0 });
  await eventually(async () => ((await holdfast.schedule('typed')).runs.length > 0 ? true : undefined));
  await holdfast.deleteSchedule('typed');
  expect(await holdfast.startBatch({ agent: 'support', id: 'typed-batch' }, '"Hello"\n"Hello"\n')).toMatchObject({ isNew: true, lines: 2 });
  expect(await holdfast.batch('typed-batch')).toMatchObject({ status: 'running' });
  await holdfast.batches();
  expect((await allOf(holdfast.batchResults('typed-batch'))).map(({ status }) => status)).toEqual(['pending', 'pending']);
  await holdfast.stopBatch('typed-batch');
  expect(await holdfast.triggers()).toEqual([]);
  await expect(holdfast.deliveries('none')).rejects.toMatchObject({ code: 'trigger-unknown' });
  await expect(holdfast.replayDelivery('none', 'x')).rejects.toMatchObject({ code: 'trigger-unknown' });
  await expect(holdfast.dropDelivery('none', 'x')).rejects.toMatchObject({ code: 'trigger-unknown' });
  await checked(`${bed.url}/v1/triggers/none`, { method: 'POST', body: '{}' });
  expect(await holdfast.notices()).toEqual({ notices: [], more: false });
  await expect(holdfast.sendNotice('none')).rejects.toMatchObject({ code: 'notice-unknown' });
  await expect(holdfast.dropNotice('none')).rejects.toMatchObject({ code: 'notice-unknown' });
  await expect(holdfast.feed()).rejects.toMatchObject({ code: 'feed-missing' });
  await checked(`${bed.url}/events/stream`);
});

it('has the code of what went wrong, and says where nobody answers', async () => {
  await expect(client().view('nobody')).rejects.toMatchObject({ name: 'HoldfastError', code: 'run-unknown' });
  await expect(client().view('..')).rejects.toMatchObject({ code: 'run-id-invalid' });
  const refusedAt = async (client: ServiceClient): Promise<string> => {
    const error = await client.agents().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'service-unreachable' });
    return (error as Error).message;
  };
  expect(await refusedAt(new ServiceClient('http://ann:hunter2@127.0.0.1:1'))).not.toContain('hunter2');
  const answering = (text: string, type: string): ServiceClient =>
    new ServiceClient('http://x', { fetch: async () => new Response(text, { status: 200, headers: { 'content-type': type } }) });
  expect(await refusedAt(answering('<html>', 'text/html'))).toContain('is no Holdfast service');
  await expect(allOf(answering('<html>', 'text/html').events('r'))).rejects.toMatchObject({ code: 'service-unreachable' });
  await expect(allOf(answering('data: {\n\n', 'text/event-stream').events('r'))).rejects.toMatchObject({ code: 'service-unreachable' });
  await expect(client().applyPolicy('..', { to: 'waiting' })).rejects.toMatchObject({ code: 'policy-unknown' });
  const typed = new ServiceClient(bed.url, { headers: { 'Content-Type': 'text/plain' } });
  await expect(typed.start({ agent: 'nobody', input: 'x' })).rejects.toMatchObject({ code: 'agent-unknown' });
});

it('a reader goes away, and the run goes on', async () => {
  const holdfast = client();
  await holdfast.start({ agent: 'support', input: 'Refund order 42, it arrived broken', id: 'left' });
  const gone = new AbortController();
  const events = holdfast.events('left', { signal: gone.signal });
  await events.next();
  gone.abort(new Error('Enough.'));
  await expect(allOf(events)).rejects.toThrow('Enough.');
  expect((await holdfast.view('left')).status).not.toBe('failed');
});

it('shows a run to 500 readers at once, and none waits for one that does not read', async () => {
  const holdfast = new ServiceClient(bed.url);
  const { id } = await holdfast.start({ agent: 'support', input: 'Refund order 42, it arrived broken' });
  const readers = 500;
  let reached = 0;
  const waits = gate();
  const read = async (): Promise<string> => {
    const types: string[] = [];
    for await (const { type } of holdfast.events(id)) {
      types.push(type);
      if (type === 'interrupt-start' && ++reached === readers) void waits.pass();
    }
    return types.join(' ');
  };
  // The socket requests and never reads.
  const silent = connect(Number(new URL(bed.url).port), '127.0.0.1');
  silent.on('error', () => undefined);
  silent.pause();
  silent.write(`GET /runs/${id}/events HTTP/1.1\r\nHost: localhost\r\n\r\n`);

  const before = process.memoryUsage().rss;
  const reading = Promise.all(Array.from({ length: readers }, read));
  await waits.reached;
  expect(process.memoryUsage().rss - before).toBeLessThan(400 * 1024 * 1024);
  const [interrupt] = await holdfast.interruptsOf(id);
  await holdfast.answer(id, interrupt?.id ?? '', { decision: 'approve' });
  const [first = '', ...others] = await reading;
  expect(first.startsWith('run-start')).toBe(true);
  expect(first.endsWith('run-end')).toBe(true);
  expect(others.filter((other) => other !== first)).toEqual([]);
  expect((await holdfast.view(id)).status).toBe('completed');
  silent.destroy();
}, 120_000);

it('asked for every route but those of protocols, and each answer is as the document says', async () => {
  for (const path of ['/', '/me', '/health', '/readyz', '/openapi.json', '/openapi']) await checked(`${bed.url}${path}`);
  const [, script = ''] = /src="([^"]+)"/.exec(await (await fetch(bed.url)).text()) ?? [];
  await checked(`${bed.url}${script}`);
  const own = Object.entries(operations).filter(([, { group }]) => group !== 'Protocols');
  expect(own.map(([route]) => route).filter((route) => !asked.has(route))).toEqual([]);
  expect(problems).toEqual([]);
});
