import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { EventSourceMessage } from 'eventsource-parser';
import type { RunEvent } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import { allOf } from '../support/all-of';
import { eventually } from '../support/eventually';
import { commandLinesIn } from './command-line';
import type { ServiceBed } from './service-bed';
import { startServiceBed } from './service-bed';

let bed: ServiceBed;
beforeAll(async () => {
  bed = await startServiceBed();
}, 120_000);
afterAll(() => bed.close());

const refund = { agent: 'support', input: 'Refund order 42' };
const lookup = { agent: 'support', input: 'Where is my order 43?' };

const get: ServiceBed['get'] = (...asked) => bed.get(...asked);
const post: ServiceBed['post'] = (...asked) => bed.post(...asked);

async function readEvents(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${bed.url}${path}`, { headers });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const stream = response.body
    ?.pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream()) as unknown as AsyncIterable<EventSourceMessage>;
  const frames = await allOf(stream);
  return { ids: frames.map(({ id }) => id ?? ''), events: frames.map(({ data }) => JSON.parse(data) as RunEvent) };
}

async function waitingRun(id: string): Promise<Extract<Interrupt, { kind: 'approval' }>> {
  await post('/runs', { ...refund, id });
  await readEvents(`/runs/${id}/events?until=waiting`);
  const { body } = await get(`/runs/${id}/interrupts`);
  return body.interrupts[0];
}

describe('starting runs', () => {
  it('answers 201 for a new run and 200 for the same one again', async () => {
    expect(await post('/runs', { ...lookup, id: 'twice' })).toEqual({ status: 201, body: { id: 'twice', isNew: true, agent: 'support' } });
    expect(await post('/runs', { ...lookup, id: 'twice' })).toEqual({ status: 200, body: { id: 'twice', isNew: false, agent: 'support' } });
  });

  // Guards against the start list of a typed job reaching the model twice.
  it('takes a job, values, settings and tags', async () => {
    const body = {
      agent: 'orders',
      input: { orderId: '43' },
      id: 'job',
      values: { customer: 'c1' },
      settings: { temperature: 0, topP: 1, seed: 7 },
      options: { toolOptions: { lookupOrder: { region: 'eu' } } },
      tags: ['vip'],
      deadline: '1h',
      by: 'ada',
    };
    expect((await post('/runs', body)).status).toBe(201);
    await readEvents('/runs/job/events');
    expect((await get('/runs/job')).body).toMatchObject({
      status: 'completed',
      agent: 'orders',
      text: expect.stringContaining('on its way'),
    });
  });
});

describe('following a run', () => {
  it('begins where the reader says, and the header wins over the query', async () => {
    await post('/runs', { ...lookup, id: 'offsets' });
    const { ids } = await readEvents('/runs/offsets/events?deltas=false');
    expect((await readEvents('/runs/offsets/events?from=2')).ids).toEqual(ids.slice(2));
    expect((await readEvents('/runs/offsets/events?from=0', { 'last-event-id': '3' })).ids).toEqual(ids.slice(4));
  });

  it('tells a browser that comes back after the end not to come again', async () => {
    await post('/runs', { ...lookup, id: 'over' });
    const { ids } = await readEvents('/runs/over/events');
    const again = await fetch(`${bed.url}/runs/over/events`, { headers: { 'last-event-id': ids.at(-1) ?? '' } });
    expect(again.status).toBe(204);
  });

  it('keeps a quiet stream open with comments', async () => {
    await waitingRun('quiet');
    const service = await bed.another({ heartbeatMs: 10 });
    const cut = new AbortController();
    const response = await fetch(`${service.url}/runs/quiet/events?from=1000`, { signal: cut.signal });
    let text = '';
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString();
      if (/(: still here\n\n){2}/.test(text)) break;
    }
    await service.close();
  });

  it('ends open streams when the service closes', async () => {
    await waitingRun('closing');
    const { nextOffset } = (await get('/runs/closing')).body;
    const service = await bed.another();
    const response = await fetch(`${service.url}/runs/closing/events?from=${nextOffset}`);
    const text = response.text();
    const cut = jest.spyOn(Server.prototype, 'closeAllConnections');
    await service.close();
    expect(await text).toContain('retry');
    expect(cut).not.toHaveBeenCalled();
    cut.mockRestore();
  });
});

describe('deciding', () => {
  it('takes a rejection with a reason, which the agent is told', async () => {
    const { id } = await waitingRun('rejected');
    await post(`/runs/rejected/interrupts/${id}`, { decision: 'reject', feedback: 'Ask for a photo first.' });
    await readEvents('/runs/rejected/events');
    expect(JSON.stringify((await get('/runs/rejected/transcript')).body.messages)).toContain('Ask for a photo first.');
    const { messages } = (await get('/runs/rejected/transcript?shape=agentic')).body;
    expect(JSON.stringify(messages)).toContain('"type":"function-tool-result"');
    expect((messages as readonly object[]).every((message) => 'blocks' in message && !('parts' in message))).toBe(true);
  });
});

describe('moving a run to the newest build', () => {
  it('is a command, behind which a run that waits for an approval ends under the new code', async () => {
    const { id } = await waitingRun('moves');
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-upgrade-'));
    const agents = join(directory, 'agents.ts');
    const showing = "{ name: 'showing', afterAgent: (_, ctx) => ctx.sendEvent('newest', true) }";
    writeFileSync(agents, readFileSync(bed.project.agentsFile, 'utf8').replace('middleware: [', `middleware: [${showing}, `));
    const { buildId } = await bed.deploy(agents);
    const upgrade = (): Promise<object> => commandLinesIn(directory)(['upgrade', 'moves', '--url', bed.url]).ended;
    expect(await upgrade()).toEqual({ code: 0, out: `The run moves goes on under the newest build, ${buildId}.\n`, error: '' });
    expect((await get('/runs/moves')).body).toMatchObject({ status: 'waiting', interrupts: [{ id }] });
    expect(await post('/runs/moves/upgrade', {})).toEqual({ status: 200, body: { id: 'moves', build: buildId, moved: false } });
    await post(`/runs/moves/interrupts/${id}`, { decision: 'approve' });
    const { events } = await readEvents('/runs/moves/events');
    expect(events.flatMap((event) => (event.type === 'custom' ? [event.name] : []))).toEqual(['newest']);
    expect(events.at(-1)).toMatchObject({ type: 'run-end', status: 'completed' });
  });
});

describe('retrying a run that has failed', () => {
  const deployed = async (hook: string): Promise<string> => {
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-retry-'));
    const agents = join(directory, 'agents.ts');
    const source = readFileSync(bed.project.agentsFile, 'utf8');
    writeFileSync(agents, source.replace('middleware: [', `middleware: [{ name: 'mended', ${hook} }, `));
    await bed.deploy(agents);
    return directory;
  };

  it('is a command, after which the run goes on under mended code, and what it had asked is not asked again', async () => {
    await deployed("afterAgent: async (_, ctx) => { await ctx.call('lookupOrder', { orderId: '43' }); throw new Error('a bug'); }");
    await post('/runs', { ...lookup, id: 'buggy' });
    const { events: before } = await readEvents('/runs/buggy/events?deltas=false');
    expect(before.at(-1)).toMatchObject({ type: 'run-end', status: 'failed', error: { code: 'hook-failed' } });
    const directory = await deployed(
      "afterAgent: async (_, ctx) => ctx.sendEvent('mended', await ctx.call('lookupOrder', { orderId: '43' }))",
    );
    const retry = (...flags: string[]): Promise<object> => commandLinesIn(directory)(['retry', 'buggy', ...flags, '--url', bed.url]).ended;
    expect(await retry('--by', 'ada')).toMatchObject({ code: 0, out: expect.stringContaining('buggy goes on') });
    const { events } = await readEvents('/runs/buggy/events?deltas=false');
    expect(events.slice(0, before.length)).toEqual(before);
    expect(events.map(({ offset }) => offset)).toEqual(events.map((_, position) => position));
    expect(events[before.length]).toMatchObject({ type: 'run-retry', by: 'ada' });
    expect(events.filter(({ type }) => type === 'model-start')).toHaveLength(before.filter(({ type }) => type === 'model-start').length);
    expect(events.flatMap((event) => (event.type === 'custom' ? [event.name] : []))).toContain('mended');
    expect(events.at(-1)).toMatchObject({ type: 'run-end', status: 'completed' });
    expect(await retry()).toMatchObject({ code: 1, error: expect.stringContaining('run-not-failed') });
  });
});

describe('looking around', () => {
  it('lists runs by tags and by who started them, and shows both with the run', async () => {
    await post('/runs', { ...lookup, id: 'labelled', tags: ['night', 'eu'], by: 'ada' });
    const found = async (query: string): Promise<readonly string[]> =>
      (await get(`/runs?${query}`)).body.runs.map(({ id }: { id: string }) => id);
    await eventually(async () => (await found('tag=night&tag=eu&startedBy=ada&since=1h')).includes('labelled') || undefined);
    expect(await found('tag=night&tag=us')).toEqual([]);
    expect(await found('startedBy=kim')).toEqual([]);
    const shown = await eventually(async () => {
      const { body } = await get('/runs/labelled');
      return body.build === undefined ? undefined : body;
    });
    expect(shown).toMatchObject({
      ...{ tags: ['night', 'eu'], startedBy: 'ada', startedAt: expect.stringMatching(/^20.*Z$/), build: expect.any(String) },
    });
    expect((await get('/interrupts?tag=night')).body).toEqual({ interrupts: [], more: false });
  });
});
