import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { EventSourceMessage } from 'eventsource-parser';
import type { Interrupt } from '../../contract/interrupts';
import { eventually } from '../support/eventually';
import { commandLinesIn } from './command-line';
import type { ServiceBed } from './service-bed';
import { asStreamed, startServiceBed } from './service-bed';

let bed: ServiceBed;
beforeAll(async () => {
  bed = await startServiceBed();
}, 120_000);
afterAll(() => bed.close());

const refund = { agent: 'support', input: 'Refund order 42' };
const lookup = { agent: 'support', input: 'Where is my order 43?' };

const get: ServiceBed['get'] = (...asked) => bed.get(...asked);
const post: ServiceBed['post'] = (...asked) => bed.post(...asked);

/** Frames of a stream of events until it ends, or until the reader has seen enough and cuts the connection. */
async function readEvents(
  path: string,
  headers: Record<string, string> = {},
  enough: (frame: EventSourceMessage) => boolean = () => false,
) {
  const cut = new AbortController();
  const response = await fetch(`${bed.url}${path}`, { headers, signal: cut.signal });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const frames: EventSourceMessage[] = [];
  const stream = response.body
    ?.pipeThrough(new TextDecoderStream() as never)
    .pipeThrough(new EventSourceParserStream()) as unknown as AsyncIterable<EventSourceMessage>;
  try {
    for await (const frame of stream) {
      frames.push(frame);
      if (enough(frame)) cut.abort();
    }
  } catch (error) {
    if (!cut.signal.aborted) throw error;
  }
  return asStreamed(frames);
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

  it('starts nothing for an agent that there is not', async () => {
    const answer = await post('/runs', { agent: 'suport', input: 'Hello', id: 'never-started' });
    expect(answer).toMatchObject({ status: 404, body: { error: { code: 'agent-unknown', message: expect.stringContaining('support') } } });
    expect((await get('/runs/never-started')).body.error.code).toBe('run-unknown');
  });

  // Fails as long as the worker seeds the start list of a typed job with the prompt, which the workflow then sends again: the model sees it twice.
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

  it('runs the calls that a list of messages ends in, when it is told to', async () => {
    const input = [
      { role: 'user', parts: [{ type: 'text', text: 'Where is my order 43?' }] },
      { role: 'assistant', parts: [{ type: 'tool-call', id: 'call-7', name: 'lookupOrder', input: { orderId: '43' } }] },
    ];
    await post('/runs', { agent: 'support', input, id: 'goes-on', runPendingToolCalls: true });
    await readEvents('/runs/goes-on/events');
    expect((await get('/runs/goes-on')).body).toMatchObject({ status: 'completed', text: expect.stringContaining('on its way') });
    await post('/runs', { agent: 'support', input, id: 'stays' });
    await readEvents('/runs/stays/events');
    expect((await get('/runs/stays')).body).toMatchObject({ status: 'failed', error: { code: 'input-invalid' } });
  });
});

describe('following a run', () => {
  it('brings every event once and in order over a cut connection', async () => {
    const interrupt = await waitingRun('cut');
    const before = await readEvents('/runs/cut/events?deltas=false', {}, ({ event }) => event === 'tool-end');
    await post(`/runs/cut/interrupts/${interrupt.id}`, { decision: 'approve' });
    const after = await readEvents('/runs/cut/events?deltas=false', { 'last-event-id': before.ids.at(-1) ?? '' });
    const whole = await readEvents('/runs/cut/events?deltas=false');
    expect([...before.events, ...after.events]).toEqual(whole.events);
    expect(whole.ids).toEqual(whole.events.map((_, offset) => String(offset)));
    expect(whole.types).toEqual(whole.events.map(({ type }) => type));
    expect(whole.types.filter((type) => /tool|interrupt|run/.test(type))).toEqual([
      'run-start',
      'tool-start',
      'tool-end',
      'interrupt-start',
      'interrupt-end',
      'tool-start',
      'tool-end',
      'run-end',
    ]);
  });

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
    // What is left when the patience of a service that closes is over.
    const cut = jest.spyOn(Server.prototype, 'closeAllConnections');
    await service.close();
    expect(await text).toContain('retry');
    expect(cut).not.toHaveBeenCalled();
    cut.mockRestore();
  });
});

describe('deciding', () => {
  it('takes an edited approval and says by whom', async () => {
    const { id } = await waitingRun('edited');
    expect(
      await post(`/runs/edited/interrupts/${id}`, { decision: 'approve', editedInput: { orderId: '42', amount: 60 }, by: 'ada' }),
    ).toEqual({ status: 200, body: { id: 'edited', interruptId: id } });
    const { events } = await readEvents('/runs/edited/events');
    expect(events.find(({ type }) => type === 'interrupt-end')).toMatchObject({ by: 'ada', reason: 'answer' });
    expect((await get('/runs/edited')).body).toMatchObject({
      status: 'completed',
      interrupts: [],
      text: expect.stringContaining('"paid":60'),
    });
  });

  it('takes a rejection with a reason, which the agent is told', async () => {
    const { id } = await waitingRun('rejected');
    await post(`/runs/rejected/interrupts/${id}`, { decision: 'reject', feedback: 'Ask for a photo first.' });
    await readEvents('/runs/rejected/events');
    expect(JSON.stringify((await get('/runs/rejected/transcript')).body.messages)).toContain('Ask for a photo first.');
    const { messages } = (await get('/runs/rejected/transcript?shape=agentic')).body;
    expect(JSON.stringify(messages)).toContain('"type":"function-tool-result"');
    expect((messages as readonly object[]).every((message) => 'blocks' in message && !('parts' in message))).toBe(true);
  });

  it('refuses what does not fit, and keeps waiting', async () => {
    const { id, inputHash } = await waitingRun('strict');
    const codeOfAnswer = async (interruptId: string, body: object): Promise<string> => {
      const { status, body: answer } = await post(`/runs/strict/interrupts/${interruptId}`, body);
      return `${status} ${answer.error?.code ?? 'ok'}`;
    };
    expect(await codeOfAnswer(id, { answer: { type: 'maybe' } })).toBe('400 answer-invalid');
    expect(await codeOfAnswer(id, { decision: 'approve', inputHash: 'other' })).toBe('409 answer-stale');
    expect(await codeOfAnswer('nothing', { decision: 'approve' })).toBe('404 interrupt-unknown');
    expect((await get('/runs/strict')).body.status).toBe('waiting');
    expect(await codeOfAnswer(id, { decision: 'approve', inputHash })).toBe('200 ok');
    await readEvents('/runs/strict/events');
    expect(await codeOfAnswer(id, { decision: 'approve' })).toBe('409 run-ended');
  });

  it('cancels a run that is open, and refuses one that has ended', async () => {
    await waitingRun('stopped');
    expect((await post('/runs/stopped/cancel', {})).status).toBe(200);
    await readEvents('/runs/stopped/events');
    expect((await get('/runs/stopped')).body.status).toBe('cancelled');
    expect(await post('/runs/stopped/cancel', {})).toMatchObject({ status: 409, body: { error: { code: 'run-ended' } } });
    await post('/runs', { ...lookup, id: 'gone' });
    await readEvents('/runs/gone/events');
    expect(await post('/runs/gone/cancel', {})).toMatchObject({ status: 409, body: { error: { code: 'run-ended' } } });
  });
});

describe('moving a run to the newest build', () => {
  it('refuses a run that there is not, and one that has ended', async () => {
    expect(await post('/runs/nobody/upgrade', {})).toMatchObject({ status: 404, body: { error: { code: 'run-unknown' } } });
    await post('/runs', { ...lookup, id: 'finished' });
    await readEvents('/runs/finished/events');
    expect(await post('/runs/finished/upgrade', {})).toMatchObject({ status: 409, body: { error: { code: 'run-ended' } } });
  });

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
  it('lists agents, runs by status, and what waits', async () => {
    const { id } = await waitingRun('listed');
    expect((await get('/health')).body).toEqual({ status: 'ok' });
    expect((await get('/agents')).body.agents).toContainEqual({
      name: 'support',
      description: 'Answers order questions and issues refunds.',
      takesJob: false,
      example: 'Refund order 42, it arrived broken',
    });
    const found = await eventually(async () =>
      (await get('/runs?status=waiting&agent=support&limit=50')).body.runs.find((run: { id: string }) => run.id === 'listed'),
    );
    expect(found).toMatchObject({ agent: 'support', status: 'waiting', interrupts: [{ id }] });
    expect((await get('/interrupts')).body.interrupts).toContainEqual(
      expect.objectContaining({ runId: 'listed', agent: 'support', tags: [], interrupt: expect.objectContaining({ id, tool: 'refund' }) }),
    );
    const { runs, more, next, total } = (await get('/runs?limit=1&total=true')).body;
    expect(runs).toHaveLength(1);
    expect(more).toBe(true);
    expect(total).toBeGreaterThan(1);
    const second = (await get(`/runs?limit=1&after=${next}`)).body;
    expect(second.runs).toHaveLength(1);
    expect(second).not.toHaveProperty('total');
    expect(second.runs[0].id).not.toBe(runs[0].id);
    expect(await get(`/runs?status=open&after=${next}`)).toMatchObject({ status: 400, body: { error: { code: 'request-invalid' } } });
  });

  it('lists runs by tags and by who started them, and shows both with the run', async () => {
    await post('/runs', { ...lookup, id: 'labelled', tags: ['night', 'eu'], by: 'ada' });
    const found = async (query: string): Promise<readonly string[]> =>
      (await get(`/runs?${query}`)).body.runs.map(({ id }: { id: string }) => id);
    await eventually(async () => (await found('tag=night&tag=eu&startedBy=ada&since=1h')).includes('labelled') || undefined);
    expect(await found('tag=night&tag=us')).toEqual([]);
    expect(await found('startedBy=kim')).toEqual([]);
    // A run has a build from its first task on.
    const shown = await eventually(async () => {
      const { body } = await get('/runs/labelled');
      return body.build === undefined ? undefined : body;
    });
    expect(shown).toMatchObject({
      ...{ tags: ['night', 'eu'], startedBy: 'ada', startedAt: expect.stringMatching(/^20.*Z$/), build: expect.any(String) },
    });
    expect((await get('/interrupts?tag=night')).body).toEqual({ interrupts: [], more: false });
  });

  it('refuses a port that is taken', async () => {
    await expect(bed.another({ port: bed.service.port })).rejects.toMatchObject({ code: 'port-in-use' });
  });

  it('reads runs without a worker', async () => {
    await waitingRun('left-alone');
    await bed.stopWorkers();
    expect((await get('/runs/left-alone')).body.status).toBe('waiting');
    expect((await get('/runs/left-alone/transcript')).body.messages.length).toBeGreaterThan(1);
    expect((await readEvents('/runs/left-alone/events?until=waiting')).types.at(-1)).toBe('interrupt-start');
  });
});
