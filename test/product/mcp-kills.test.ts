import { execFileSync, spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import type { Run } from '../../client/runs/run';
import { freePort } from '../../host/server/free-port';
import { eventually } from '../support/eventually';
import { gate } from '../support/gate';
import { testServer } from '../support/test-bed';
import type { Command } from './command';
import { commandOf, ownCommands } from './command';

/* HOLDFAST_MCP_RUNS=200 plays the whole crowd. */
const runs = Number(process.env['HOLDFAST_MCP_RUNS'] ?? 20);
const kills = ['server and child', 'worker', 'server and worker'] as const;
const waves = Math.max(2, Math.ceil(runs / 25));
const perWave = Math.ceil(runs / waves);

const tools = ['shop_look', 'shop_charge', 'shop_pay', 'till_charge', 'till_pay', 'desk_count', 'nook_count'];
const agents = `import { defineAgent } from 'holdfast/workflow';
export const payer = defineAgent({ name: 'payer', description: 'Pays.', instructions: '', model: 'test/model', tools: ${JSON.stringify(tools)} });`;
const config = `const calls = (...names) => names.map((name) => ({ type: 'tool-call', id: name, name, input: {} }));
const counts = calls('desk_count', 'nook_count');
const turns = [counts, calls('shop_look', 'shop_charge', 'shop_pay', 'till_charge', 'till_pay'), counts, counts];
const generate = async ({ messages }) => ({
  parts: turns[messages.filter(({ role }) => role === 'assistant').length] ?? [{ type: 'text', text: 'Done.' }],
  usage: { inputTokens: 1, outputTokens: 1 },
});
const { SHOP, PAYMENTS, TILL } = process.env;
const effects = { look: 'none', charge: 'idempotent', pay: 'once', count: 'none' };
const web = { url: SHOP, headers: { 'x-worker': String(process.pid) }, effects, timeout: '10m' };
const own = { command: process.execPath, env: { PAYMENTS }, effects, timeout: '10m' };
export default {
  agents: './agents.ts',
  models: { providers: { test: { model: () => ({ generate }) } } },
  mcp: {
    shop: web,
    desk: { ...web, perRun: true },
    till: { ...own, args: [TILL, 'till'] },
    nook: { ...own, args: [TILL, 'nook'], perRun: true },
  },
};`;

/** Of the payments that come before the release, each other payment is held before the money moves, and the rest before the answer. */
class Payments {
  readonly keys: string[] = [];
  held = 0;
  open = 0;
  private until = gate();
  private readonly server = createServer((request, response) => void this.pay(request, response));

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  hold(): void {
    this.held = 0;
    this.until = gate();
  }

  release(): void {
    this.until.open();
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private async pay(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.open += 1;
    this.held += 1;
    const isHeldBefore = this.held % 2 === 0;
    const released = Promise.race([this.until.pass(), once(response, 'close')]);
    if (isHeldBefore) await released;
    if (!response.destroyed) this.keys.push(String(request.headers['idempotency-key']));
    await released;
    response.end('paid');
    this.open -= 1;
  }
}

const { directory, start } = ownCommands('mcp-kills');
const till = join(__dirname, '..', 'support', 'mcp', 'till.mjs');
const taskQueue = `mcp-kills-${process.pid}`;
const payments = new Payments();
const workers = new Map<string, Command>();
let client: HoldfastClient;
let shop: Command;
let port: number;
let paymentsUrl: string;

async function openShop(): Promise<void> {
  const env = { PATH: process.env['PATH'], PAYMENTS: paymentsUrl };
  shop = commandOf(spawn(process.execPath, [till, 'http', String(port), directory], { env, stdio: ['ignore', 'pipe', 'pipe'] }));
  await shop.seen('listening');
}

async function openWorker(name: string): Promise<void> {
  const variables = {
    HOLDFAST_DIR: join(directory, name),
    TEMPORAL_ADDRESS: testServer().address,
    HOLDFAST_TASK_QUEUE: taskQueue,
    SHOP: `http://127.0.0.1:${port}/mcp`,
    PAYMENTS: paymentsUrl,
    TILL: till,
  };
  const command = start(['worker'], variables);
  workers.set(name, command);
  await command.seen('Holdfast is ready.');
}

/** Children that are in a call keep the pipes of their worker. */
async function killed({ process: child }: Command): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

interface Child {
  readonly pid: number;
  readonly parent: number;
  readonly kind: string;
}

/** Processes of the servers `till` and `nook`. Those of a dead worker have another parent. */
function children(): readonly Child[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n');
  return lines.flatMap((line) => {
    const [pid = '', parent = '', ...args] = line.trim().split(' ').filter(Boolean);
    const kind = args.at(-1) ?? '';
    return args.includes(till) && /^(till|nook)$/.test(kind) ? [{ pid: Number(pid), parent: Number(parent), kind }] : [];
  });
}

const pids = (): readonly number[] => [...workers.values()].map(({ process: { pid = 0 } }) => pid);
const orphans = (): readonly Child[] => children().filter(({ parent }) => !pids().includes(parent));
const none = <T>(found: readonly T[]): true | undefined => (found.length === 0 ? true : undefined);

interface ShopState {
  readonly busy: number;
  readonly sockets: number;
  /** The worker of each session. */
  readonly sessions: readonly number[];
}

const shopState = async (): Promise<ShopState> => (await (await fetch(`http://127.0.0.1:${port}/state`)).json()) as ShopState;

async function crash(kill: (typeof kills)[number]): Promise<void> {
  if (kill.includes('child')) for (const { pid, kind } of children()) if (kind === 'till') process.kill(pid, 'SIGKILL');
  if (kill.includes('server')) await killed(shop);
  if (kill.includes('worker')) await killed(workers.get('first') as Command);
  payments.release();
  await eventually(async () => none(orphans()));
  if (kill.includes('server')) await openShop();
  if (kill.includes('worker')) await openWorker('first');
}

/** Nothing that was sent can pay any more. */
async function settled(): Promise<void> {
  await eventually(async () => ((await shopState()).busy === 0 && payments.open === 0 ? true : undefined));
}

const paidBy = (key: string): number => payments.keys.filter((paid) => paid === key).length;

/** A person looks into the books. */
async function ended(run: Run): Promise<number> {
  for (let doubts = 0; ;) {
    const { status } = await run.outcome();
    if (status === 'completed') return doubts;
    await settled();
    for (const { id, kind, ...more } of await run.interrupts()) {
      const { tool } = (more as unknown as { readonly info: { readonly tool: string } }).info;
      expect(kind).toBe('in-doubt');
      expect(tool).toMatch(/_pay$/);
      const happened = paidBy(keyOf(run, tool)) === 1;
      await run.resume(id, happened ? { happened, result: 'paid' } : { happened });
      doubts += 1;
    }
  }
}

const order = tools.filter((tool) => !tool.endsWith('_count'));
const keyOf = ({ id }: Run, tool: string): string => `default/${id}/payer/t2/${tool}.${order.indexOf(tool)}`;

async function check(run: Run): Promise<void> {
  const messages = await run.transcript();
  const parts = messages.flatMap((message) => message.parts);
  const called = parts.flatMap((part) => (part.type === 'tool-call' ? [part.name] : []));
  const results = parts.flatMap((part) => (part.type === 'tool-result' ? [part] : []));
  const counts = ['desk_count', 'nook_count'];
  expect(called).toEqual([...counts, ...order, ...counts, ...counts]);
  expect(results.map(({ callId }) => callId)).toEqual(called);
  expect(messages.at(-1)).toMatchObject({ role: 'assistant', parts: [{ type: 'text', text: 'Done.' }] });
  const said = (tool: string): readonly string[] =>
    results.flatMap(({ callId, output }) => (callId === tool ? [JSON.stringify(output)] : []));
  for (const tool of order) {
    const [result = ''] = said(tool);
    // The model of a `once` call is told at once, and nothing was paid.
    const wasUnsent = tool.endsWith('_pay') && result.includes('cannot be reached');
    const times = paidBy(keyOf(run, tool));
    if (!wasUnsent) expect([tool, result]).toEqual([tool, expect.stringContaining(tool === 'shop_look' ? 'seen' : 'paid')]);
    if (tool.endsWith('_pay')) expect([tool, times]).toEqual([tool, wasUnsent ? 0 : 1]);
    if (tool.endsWith('_charge')) expect([tool, times > 0]).toEqual([tool, true]);
  }
  for (const count of counts) {
    let before = 0;
    for (const result of said(count)) {
      const [number = 0] = /\d+/.exec(result)?.map(Number) ?? [];
      // Without the note, nothing is lost.
      expect([count, number, result]).toEqual([count, result.includes('is new') ? 1 : before + 1, result]);
      before = number;
    }
  }
}

beforeAll(async () => {
  writeFileSync(join(directory, 'agents.ts'), agents);
  writeFileSync(join(directory, 'holdfast.config.ts'), config);
  [port, paymentsUrl] = [await freePort(), await payments.listen()];
  await openShop();
  client = await connect({ server: testServer(), taskQueue });
  await Promise.all(['first', 'second'].map(openWorker));
}, 240_000);

afterAll(async () => {
  await client.close();
  await killed(shop);
  payments.close();
});

it('pays each payment once, and ends all runs, connections and processes, while servers, their processes and workers are killed', async () => {
  const all: Run[] = [];
  const found: string[] = [];
  for (let wave = 0; wave < waves; wave++) {
    const kill = kills[wave % kills.length] ?? 'worker';
    const since = Date.now();
    payments.hold();
    const started = await Promise.all(
      Array.from({ length: perWave }, (_, at) => client.start('payer', 'Pay.', { id: `${taskQueue}-${wave}-${at}` })),
    );
    await eventually(() => Promise.resolve(payments.held >= perWave ? true : undefined));
    await crash(kill);
    const doubts = await Promise.all(started.map(ended));
    found.push(`${kill}: ${doubts.reduce((sum, one) => sum + one)} doubts, ${Math.round((Date.now() - since) / 1000)} s`);
    all.push(...started);
  }
  for (const run of all) await check(run);
  const ids = all.map(({ id }) => id);
  expect(payments.keys.filter((key) => !ids.includes(key.split('/')[1] ?? ''))).toEqual([]);
  const keys = new Set(payments.keys);
  expect(keys.size).toBeLessThanOrEqual(all.length * 4);

  const isShared = ({ kind }: Child): boolean => kind === 'till';
  expect(orphans()).toEqual([]);
  expect(children().filter(isShared).length).toBeLessThanOrEqual(workers.size);
  // Requests are over: each session has a stream at most.
  const { sessions, sockets } = await eventually(async () => {
    const state = await shopState();
    return state.sockets <= state.sessions.filter((worker) => pids().includes(worker)).length + 1 ? state : undefined;
  });
  const open = children().length;
  const last = pids();
  for (const { process: child, ended: over } of workers.values()) {
    child.kill('SIGTERM');
    await over;
  }
  await eventually(async () => none(children()));
  const after = await shopState();
  expect(after.sessions.filter((worker) => last.includes(worker))).toEqual([]);
  expect(after.sockets).toBe(1);
  console.log(
    `${all.length} runs, ${keys.size} payments by ${payments.keys.length} requests. ${found.join('. ')}. ` +
      `At rest ${sessions.length} sessions, ${sockets} sockets and ${open} processes.`,
  );
}, 1_200_000);
