import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { McpServer as OldServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Manifest } from '../../../contract/manifest';
import { eventually } from '../../support/eventually';
import { gate } from '../../support/gate';
import { ToolServerBed, oldServer, served, textOf } from '../../support/mcp/tool-server-bed';

const folder = mkdtempSync(join(tmpdir(), 'mcp-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Counts in each session. */
function counter(): OldServer {
  const made = new OldServer({ name: 'desk', version: '1' });
  let count = 0;
  made.registerTool('count', { description: 'Counts.' }, () => ({ content: [{ type: 'text', text: String(++count) }] }));
  return made;
}

function counting(bed: ToolServerBed, manifest: Manifest): (run: string) => Promise<unknown> {
  const values: Record<string, typeof bed.values> = {};
  return async (run) => {
    bed.values = values[run] ??= {};
    return textOf(await bed.call(manifest, 'desk_count', {}, { run }));
  };
}

const isNew = 'The session with "desk" is new: what earlier calls left in the session is gone.';

describe('a server with a session for each run over HTTP', () => {
  let server: Awaited<ReturnType<typeof oldServer>>;
  let worker: () => ToolServerBed;
  beforeEach(async () => {
    server = await oldServer(counter);
    worker = () => new ToolServerBed({ desk: { url: server.url, perRun: true } });
  });
  afterEach(() => server.close());

  it('keeps the runs apart, tells of a session that the server has forgotten, and gets the sessions back', async () => {
    const bed = worker();
    const manifest = await bed.prepared('desk_count');
    const count = counting(bed, manifest);
    expect([await count('one'), await count('one'), await count('two')]).toEqual(['1', '2', '1']);
    expect(server.sessions).toBe(3);
    server.forget();
    expect(await count('two')).toBe(`1 | ${isNew}`);
    await bed.close();
    expect(server.sessions).toBe(0);
  });

  it('is left by the session that has been idle for the longest time, above 100 idle ones, and by idle ones after 5 minutes', async () => {
    const bed = worker();
    const manifest = await bed.prepared('desk_count');
    const count = counting(bed, manifest);
    for (let run = 0; run < 100; run++) await count(`run-${run}`);
    expect(await count('run-0')).toBe('2');
    expect(server.sessions).toBe(101);
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'Date', 'performance', 'setInterval'] });
    try {
      expect(await count('run-100')).toBe('1');
      expect(await count('run-0')).toBe('3');
      jest.advanceTimersByTime(300_000);
    } finally {
      jest.useRealTimers();
    }
    // Of the calls on virtual time, the sessions are over, and so is the one of run-1.
    await eventually(() => Promise.resolve(server.sessions === 99 ? true : undefined));
    expect(await count('run-1')).toBe(`1 | ${isNew}`);
    expect(await count('run-2')).toBe('2');
    await bed.close();
    expect(server.sessions).toBe(0);
  });

  it('never mixes the states of sessions on two workers', async () => {
    const [first, second] = [worker(), worker()];
    const manifest = await first.prepared('desk_count');
    const values = {};
    const count = async (bed: ToolServerBed): Promise<unknown> => {
      bed.values = values;
      return textOf(await bed.call(manifest, 'desk_count'));
    };
    expect([await count(first), await count(first)]).toEqual(['1', '2']);
    expect([await count(second), await count(second)]).toEqual([`1 | ${isNew}`, '2']);
    expect(await count(first)).toBe(`1 | ${isNew}`);
    await Promise.all([first.close(), second.close()]);
    expect(server.sessions).toBe(0);
  });
});

it('does not wait for a hung server to end its session', async () => {
  const server = await oldServer(counter);
  const deleted = gate();
  const front = await served(async (request) => {
    if (request.method === 'DELETE') await deleted.pass();
    return fetch(server.url, { method: request.method, headers: request.headers, body: request.body, duplex: 'half' } as never);
  });
  const bed = new ToolServerBed({ desk: { url: front.url } });
  await bed.prepared('desk_count');
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'Date', 'performance', 'setInterval'] });
  try {
    const closed = bed.close();
    await deleted.reached;
    jest.advanceTimersByTime(20_000);
    await closed;
  } finally {
    jest.useRealTimers();
  }
  await front.close();
  await server.close();
}, 60_000);

describe('a process of a server', () => {
  const started = async (name: string, env: Readonly<Record<string, string>>): Promise<number> => {
    const starts = join(folder, name);
    const args = [join(__dirname, '../../support/mcp/shop.mjs')];
    const bed = new ToolServerBed({ shop: { command: process.execPath, args, env: { STARTS: starts, ...env } } });
    expect(textOf(await bed.call(await bed.prepared('shop_count'), 'shop_count'))).toBe('1');
    await bed.close();
    return readFileSync(starts, 'utf8').trim().split('\n').length;
  };

  it('is started once, also to find out the line of the protocol', async () => expect(await started('lenient', {})).toBe(1));

  it('is started again if it ends before `initialize`', async () => expect(await started('strict', { STRICT: 'yes' })).toBe(2));
});
