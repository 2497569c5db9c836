import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import { textOf } from '../../contract/messages/messages';
import { freePort } from '../../host/server/free-port';
import { HttpReader } from '../kill/http-reader';
import { eventually } from '../support/eventually';
import { startRedis, type TestRedis } from '../support/redis';
import { testServer } from '../support/test-bed';
import type { Command } from './command';
import { ownCommands } from './command';

/* At each kill so many runs stream. HOLDFAST_STREAMED_RUNS=50 and HOLDFAST_STREAM_READERS=100 play the whole crowd. */
const runs = Number(process.env['HOLDFAST_STREAMED_RUNS'] ?? 2);
const readers = Number(process.env['HOLDFAST_STREAM_READERS'] ?? 4);
const kills = ['nothing', 'worker', 'service', 'redis', 'all'] as const;

const agents = `import { agentsFor } from 'holdfast/workflow';
const { defineAgent } = agentsFor();
export const talker = defineAgent({ name: 'talker', description: 'Talks.', instructions: '', model: 'test/model', tools: [] });
export const digger = defineAgent({ name: 'digger', description: 'Digs.', instructions: '', model: 'test/model', tools: ['dig'] });`;
/** Each piece names the process and its place. The last piece comes with the end of the call. Half of the pieces wait for the kill of the wave. */
const config = `import { existsSync } from 'node:fs';
import { defineTool } from 'holdfast/worker';
import { z } from 'zod';
const pieces = Number(process.env.PIECES);
const pause = () => new Promise((resolve) => setTimeout(resolve, 20));
const open = async (gate) => {
  while (!existsSync(process.env.GATES + gate)) await pause();
};
async function* stream({ messages, tools }) {
  const gate = messages[0].parts[0].text;
  if (tools.length > 0 && messages.length === 1) yield { type: 'part', part: { type: 'tool-call', id: 'c', name: 'dig', input: {} } };
  for (let place = 0; tools.length === 0 && place < pieces; place++) {
    await pause();
    if (place === pieces / 2) await open(gate);
    yield { type: 'text', text: process.pid + '.' + place + ';' };
  }
  yield { type: 'finish', usage: { inputTokens: 1, outputTokens: 1 } };
}
const generate = () => Promise.reject(new Error('These runs stream.'));
const dig = async (_, call) => {
  call.progress({ meters: 1 });
  await open('dig');
  return 'Gold.';
};
const tools = { dig: defineTool({ description: 'Digs.', inputSchema: z.object({}), execute: dig }) };
export default { agents: './agents.ts', tools, models: { providers: { test: { model: () => ({ generate, stream }) } } } };`;

const { directory, start } = ownCommands('hosts');
const running = new Map<string, Command>();
const ports = new Map<string, number>();
const taskQueue = `hosts-${process.pid}`;
let redis: TestRedis;
let client: HoldfastClient;

async function open(name: string): Promise<void> {
  const variables = {
    HOLDFAST_DIR: join(directory, name),
    TEMPORAL_ADDRESS: testServer().address,
    HOLDFAST_TASK_QUEUE: taskQueue,
    HOLDFAST_REDIS_URL: redis.url,
    PIECES: '200',
    GATES: join(directory, 'gate-'),
  };
  const port = ports.get(name);
  const command = start(port === undefined ? ['worker'] : ['serve', '--port', String(port)], variables);
  running.set(name, command);
  await command.seen('Holdfast is ready.');
}

async function crash(name: string): Promise<void> {
  if (name === 'redis') {
    await redis.kill();
    await delay(300);
    redis = await startRedis(Number(new URL(redis.url).port));
    return;
  }
  const command = running.get(name);
  command?.process.kill('SIGKILL');
  await command?.ended;
  await open(name);
}

const urlOf = (at: number): string => `http://127.0.0.1:${[...ports.values()][at % ports.size]}`;

async function readToEnd(reader: HttpReader): Promise<void> {
  while ((await reader.connect().catch(() => 'cut')) === 'cut') await delay(50);
}

interface Shown {
  readonly live: boolean;
  readonly replaced: boolean;
}

/** Fails if a piece is missing, double or late. */
function checked(connections: readonly (readonly string[])[], message: string): Shown {
  let live = false;
  let replaced = false;
  for (const lines of connections) {
    let text: string | undefined;
    for (const line of lines) {
      const [type = '', ...words] = line.split(' ');
      const said = words.join(' ');
      if (type === 'attempt-start') text = '';
      if (type === 'attempt-void') text = undefined;
      if (type === 'text-delta') {
        expect(text).toBeDefined();
        text = (text ?? '') + said;
        live = true;
      }
      if (type === 'message-replaced') {
        replaced = true;
        expect([text !== message, message.startsWith(text ?? '?')]).toEqual([true, true]);
        text = undefined;
      }
      if (type === 'model-end') expect([said, text ?? said]).toEqual([message, message]);
    }
  }
  return { live, replaced };
}

beforeAll(async () => {
  writeFileSync(join(directory, 'agents.ts'), agents);
  writeFileSync(join(directory, 'holdfast.config.ts'), config);
  for (const name of ['service-1', 'service-2']) ports.set(name, await freePort());
  redis = await startRedis();
  client = await connect({ server: testServer(), taskQueue });
  for (const name of ['worker-1', 'worker-2', ...ports.keys()]) await open(name);
}, 240_000);

afterAll(async () => {
  await client.close();
  await redis.kill();
});

it('two services show the pieces of two workers once and in order, while each process and Redis are killed', async () => {
  const found: (Shown & { readonly kill: string })[] = [];
  for (const [wave, kill] of kills.entries()) {
    const started = await Promise.all(
      Array.from({ length: runs }, (_, at) => client.start('talker', kill, { id: `${taskQueue}-${wave}-${at}` })),
    );
    const each = started.flatMap((run) =>
      Array.from({ length: readers / runs }, (_, at) => ({ run, reader: new HttpReader(`${urlOf(at)}/runs/${run.id}/events`) })),
    );
    const reading = Promise.all(each.map(({ reader }) => readToEnd(reader)));
    const isLive = ({ reader }: (typeof each)[number]): boolean => reader.connections.flat().some((line) => line.startsWith('text-delta'));
    await eventually(() => Promise.resolve(each.every(isLive) ? true : undefined));
    writeFileSync(join(directory, `gate-${kill}`), '');
    if (kill === 'all') for (const name of ['redis', 'worker-2', 'service-2']) await crash(name);
    else if (kill !== 'nothing') await crash(kill === 'redis' ? kill : `${kill}-1`);
    await reading;
    for (const { run, reader } of each) {
      const { messages } = await run.view();
      const message = textOf(messages.at(-1)!);
      expect(message).toMatch(/^(\d+)\.0;(\1\.\d+;){199}$/);
      expect(reader.offsets).toEqual([0, 1, 2, 3]);
      found.push({ kill, ...checked(reader.connections, message) });
    }
  }
  const replaced = kills.map((kill) => `${kill} ${found.filter((one) => one.kill === kill && one.replaced).length}`);
  console.log(`${found.length} readers of ${kills.length * runs} runs; with lost pieces: ${replaced.join(', ')}.`);
  expect(found.every(({ live }) => live)).toBe(true);
  expect(found.filter(({ kill, replaced: isReplaced }) => isReplaced && kill !== 'redis' && kill !== 'all')).toEqual([]);
  const service = await running.get('service-1')?.complained('deltas-not-shared');
  expect(service?.split('Redis at HOLDFAST_REDIS_URL cannot be used')).toHaveLength(3);
}, 600_000);

it('two services show the progress of a tool while it runs, and each new event', async () => {
  const run = await client.start('digger', 'dig', { id: `${taskQueue}-dig` });
  const followed = [0, 1].map((at) => new HttpReader(`${urlOf(at)}/runs/${run.id}/events`));
  const reading = Promise.all(followed.map(readToEnd));
  const shows = (line: string): boolean => followed.every(({ connections }) => connections.flat().includes(line));
  await eventually(() => Promise.resolve(shows('tool-progress') ? true : undefined));
  expect(followed.some(({ connections }) => connections.flat().includes('tool-end'))).toBe(false);
  writeFileSync(join(directory, 'gate-dig'), '');
  await reading;
  expect(shows('tool-end')).toBe(true);
});
