import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import type { Run } from '../../client/runs/run';
import { freePort } from '../../host/server/free-port';
import { gate } from '../support/gate';
import OpenAI from 'openai';
import { PageChat } from '../support/ai-sdk-page';
import { allOf } from '../support/all-of';
import type { OpenAiEvent } from '../support/responses-bed';
import { addLine } from '../support/shown-lines';
import { testServer } from '../support/test-bed';
import type { Child } from './child';
import { killAll, spawnProgram } from './child';
import { HttpReader } from './http-reader';
import { programSettings } from './program-settings';
import type { ServiceSettings, StreamScript } from './service-process';

const hold = null;

interface Place {
  readonly client: HoldfastClient;
  readonly url: string;
  spawn(process: ServiceSettings['process'], own?: Partial<ServiceSettings>): Child;
  start(name: string, script: StreamScript): Promise<Run>;
  readerOf(run: Run): HttpReader;
}

const clients: HoldfastClient[] = [];
let places = 0;

async function place(): Promise<Place> {
  const port = await freePort();
  const settings = programSettings(`stream-${process.pid}-${places++}`);
  const client = await connect({ server: testServer(), taskQueue: settings.taskQueue });
  clients.push(client);
  const url = `http://127.0.0.1:${port}`;
  return {
    client,
    url,
    spawn: (process, own = {}) => spawnProgram('service-process', { ...settings, port, process, ...own } satisfies ServiceSettings),
    start: (name, script) => client.start('plain', JSON.stringify(script), { id: `${settings.taskQueue}-${name}` }),
    readerOf: (run) => new HttpReader(`${url}/runs/${run.id}/events`),
  };
}

interface Watched {
  readonly begun: Promise<void>;
  readonly end: Promise<{ readonly lines: readonly string[]; readonly offsets: readonly unknown[] }>;
}

function watch(run: Run): Watched {
  const begin = gate();
  const read = async (): Promise<Awaited<Watched['end']>> => {
    const lines: string[] = [];
    const offsets = [];
    for await (const event of run.events()) {
      addLine(lines, event);
      offsets.push(event.offset);
      if (event.type === 'model-start') void begin.pass();
    }
    return { lines, offsets };
  };
  return { begun: begin.reached, end: read() };
}

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, position) => position);

afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  killAll();
});

describe('a worker killed in the middle of a stream', () => {
  const lost = ['First try ', 'that nobody ', 'will see ', hold, 'the end of.'];
  const scripts = {
    early: { first: lost, second: ['Second ', hold, 'try.'] },
    late: { first: lost, second: ['Another ', 'text, ', hold, 'whole.'] },
    after: { first: lost, second: ['Done ', 'while nobody looked.'] },
    tool: { first: [], second: ['So it is.'], tool: { first: lost, second: ['Counted ', hold, 'again.'] } },
  } satisfies Record<string, StreamScript>;
  type Name = keyof typeof scripts;
  const names = Object.keys(scripts) as Name[];

  let runs: Record<Name, Run>;
  let readers: Record<Name, HttpReader>;
  let watched: Record<Name, Watched>;
  let cuts: readonly string[];

  beforeAll(async () => {
    const at = await place();
    const first = at.spawn('first');
    await first.line('ready');
    const byName = async <T>(make: (name: Name) => T | Promise<T>): Promise<Record<Name, T>> =>
      Object.fromEntries(await Promise.all(names.map(async (name) => [name, await make(name)] as const))) as Record<Name, T>;
    runs = await byName((name) => at.start(name, scripts[name]));
    readers = await byName((name) => at.readerOf(runs[name]));
    const reading = names.map((name) => readers[name].connect());
    watched = await byName((name) => watch(runs[name]));
    await Promise.all(
      names.map((name) => readers[name].seen(`${name === 'tool' ? 'tool-output-delta' : 'text-delta'} First try that nobody will see `)),
    );
    await Promise.all(names.map((name) => watched[name].begun));
    await first.murder();
    cuts = await Promise.all(reading);

    const second = at.spawn('second');
    await second.line('listening');
    const { early, late, after, tool } = readers;
    const again = [early.connect(), tool.connect()];
    await Promise.all([early.seen('text-delta Second '), tool.seen('tool-output-delta Counted '), second.line(`held ${runs.late.id}`)]);
    again.push(late.connect());
    await late.seen('text-delta Another text, ');
    await watched.after.end;
    again.push(after.connect());
    second.release();
    expect(await Promise.all(again)).toEqual(['ended', 'ended', 'ended', 'ended']);
    await second.line('ready');
    expect(await second.terminate()).toBe(0);
  });

  it('cuts off who reads over HTTP from the same process', () => {
    expect(cuts).toEqual(['cut', 'cut', 'cut', 'cut']);
    expect(readers.early.connections[0]).toEqual([
      'run-start',
      'model-start',
      'attempt-start 1',
      'text-delta First try that nobody will see ',
    ]);
  });

  it('says to a reader that comes back that what it saw is void, and shows the next attempt whole', () => {
    expect(readers.early.connections[1]).toEqual([
      'attempt-void 1',
      'attempt-start 2',
      'text-delta Second try.',
      'model-end Second try.',
      'run-end completed',
    ]);
  });

  it('shows the next attempt from its beginning to a reader that comes back in the middle of it', () => {
    expect(readers.late.connections[1]).toEqual([
      'attempt-void 1',
      'attempt-start 2',
      'text-delta Another text, whole.',
      'model-end Another text, whole.',
      'run-end completed',
    ]);
  });

  it('shows only what counts to a reader that comes back when all is over', () => {
    expect(readers.after.connections[1]).toEqual(['model-end Done while nobody looked.', 'run-end completed']);
  });

  it('does the same with what a tool says', () => {
    expect(readers.tool.connections).toEqual([
      [
        'run-start',
        'model-start',
        'model-end tool-call',
        'tool-start',
        'attempt-start 1',
        'tool-output-delta First try that nobody will see ',
      ],
      [
        'attempt-void 1',
        'attempt-start 2',
        'tool-output-delta Counted again.',
        'tool-end',
        'model-start',
        'attempt-start 1',
        'text-delta So it is.',
        'model-end So it is.',
        'run-end completed',
      ],
    ]);
  });

  it.each(names)('shows every durable event once over both connections (%s)', (name) => {
    expect(readers[name].offsets).toEqual(upTo(name === 'tool' ? 8 : 4));
  });

  it.each(names)('keeps no word of the first attempt (%s)', async (name) => {
    const { messages } = await runs[name].view();
    expect(messages).toHaveLength(name === 'tool' ? 4 : 2);
    expect(JSON.stringify(messages.slice(-1))).not.toContain('First try');
    if (name === 'tool') expect(messages[2]?.parts).toMatchObject([{ type: 'tool-result', output: 'Counted again.' }]);
  });

  it.each(names)('shows who reads from another process the durable events, once each, and no delta (%s)', async (name) => {
    const { lines, offsets } = await watched[name].end;
    expect(lines).toEqual(readers[name].connections.flat().filter((shown) => !/^(attempt|text|tool-output)-/.test(shown)));
    expect(offsets).toEqual(upTo(lines.length));
  });
});

describe('a process told to stop in the middle of a stream, as at a deploy', () => {
  it('lets the answer come to its end, and readers see one attempt', async () => {
    const at = await place();
    const first = at.spawn('first');
    await first.line('ready');
    const run = await at.start('drained', { first: ['To ', 'be ', hold, 'continued.'], second: ['Never said.'] });
    const reader = at.readerOf(run);
    const reading = reader.connect();
    await reader.seen('text-delta To be ');
    const ended = first.terminate();
    await first.line('draining');
    first.release();
    expect(await reading).toBe('ended');
    expect(await ended).toBe(0);

    const second = at.spawn('second');
    await second.line('listening');
    expect(await reader.connect()).toBe('ended');
    expect(reader.connections).toEqual([
      ['run-start', 'model-start', 'attempt-start 1', 'text-delta To be continued.'],
      ['model-end To be continued.', 'run-end completed'],
    ]);
    expect(reader.offsets).toEqual(upTo(4));
    expect(second.lines.some((said) => said.startsWith('held'))).toBe(false);
    await second.line('ready');
    expect(await second.terminate()).toBe(0);
  });

  it('hands over an answer that takes longer than the grace time, and what was said of it is void', async () => {
    const at = await place();
    const first = at.spawn('first', { graceMs: 200 });
    await first.line('ready');
    const run = await at.start('handed-over', { first: ['Too ', 'slow ', hold], second: ['In ', hold, 'time.'] });
    const reader = at.readerOf(run);
    const reading = reader.connect();
    await reader.seen('text-delta Too slow ');
    expect(await first.terminate()).toBe(0);
    expect(await reading).toBe('ended');

    const second = at.spawn('second');
    await second.line('listening');
    const again = reader.connect();
    await reader.seen('text-delta In ');
    second.release();
    expect(await again).toBe('ended');
    expect(reader.connections).toEqual([
      ['run-start', 'model-start', 'attempt-start 1', 'text-delta Too slow ', 'attempt-void 1'],
      ['attempt-void 1', 'attempt-start 2', 'text-delta In time.', 'model-end In time.', 'run-end completed'],
    ]);
    expect(reader.offsets).toEqual(upTo(4));
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'In time.' });
    await second.line('ready');
    expect(await second.terminate()).toBe(0);
  });
});

describe('a page with a chat of AI SDK whose service is killed in the middle of a turn', () => {
  it('shows an error, and the whole turn when it comes back', async () => {
    const at = await place();
    const first = at.spawn('first');
    await first.line('ready');
    const script: StreamScript = { first: ['First try ', hold, 'the end of.'], second: ['Second ', hold, 'try.'] };
    const page = new PageChat(`${at.url}/aisdk/plain`);
    const sending = page.sendMessage({ text: JSON.stringify(script) });
    await page.until(({ text }) => text === 'First try ');
    await first.murder();
    await sending;
    expect([page.status, page.error === undefined]).toEqual(['error', false]);

    const second = at.spawn('second');
    await second.line('listening');
    const back = new PageChat(`${at.url}/aisdk/plain`, { id: page.id, messages: page.messages.slice(0, 1) });
    const resuming = back.resumeStream();
    await back.until(({ text }) => text.endsWith('Second '));
    second.release();
    await resuming;
    expect([back.status, back.error, back.text]).toEqual(['ready', undefined, 'Second try.']);
    expect(back.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(await at.client.conversation(undefined, page.id).view()).toMatchObject({ turn: 1, status: 'idle', queue: [] });
    const { messages } = await at.client.conversation(undefined, page.id).transcript();
    expect(messages.map(({ message }) => message.role)).toEqual(['user', 'assistant']);
    await new PageChat(`${at.url}/aisdk/plain`, { id: page.id }).resumeStream();
    await second.line('ready');
    expect(await second.terminate()).toBe(0);
  });
});

describe('a response of OpenAI whose service is killed in the middle of a text', () => {
  it('is taken up where it was left, and has the whole text of the next try', async () => {
    const at = await place();
    const first = at.spawn('first');
    await first.line('ready');
    const client = new OpenAI({ baseURL: `${at.url}/v1`, apiKey: 'none', maxRetries: 0 });
    const script: StreamScript = { first: ['First try ', hold, 'the end of.'], second: ['Second ', hold, 'try.'] };
    const seen: OpenAiEvent[] = [];
    const reading = async (): Promise<void> => {
      for await (const event of await client.responses.create({ model: 'plain', input: JSON.stringify(script), stream: true })) {
        seen.push(event);
        if (event.type === 'response.output_text.delta') await first.murder();
      }
    };
    await expect(reading()).rejects.toThrow();
    const [created] = seen;
    const id = created?.type === 'response.created' ? created.response.id : '';
    const after = seen.at(-1)?.sequence_number ?? 0;

    const second = at.spawn('second');
    await second.line('listening');
    const rest = allOf(await client.responses.retrieve(id, { stream: true, starting_after: after }));
    const helper = client.responses.stream({ response_id: id });
    await second.line('ready');
    second.release();
    const events = await rest;
    expect(events.every(({ sequence_number }) => sequence_number > after)).toBe(true);
    expect(events).toEqual(expect.arrayContaining([expect.objectContaining({ type: 'response.output_text.done', text: 'Second try.' })]));
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { id, output: [{ content: [{ text: 'Second try.' }] }] } });
    expect((await helper.finalResponse()).output_text).toBe('Second try.');
    expect(await client.responses.retrieve(id)).toMatchObject({ status: 'completed', output_text: 'Second try.' });
    expect(await second.terminate()).toBe(0);
  });
});
