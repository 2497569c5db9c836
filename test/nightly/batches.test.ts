import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ServiceClient } from '../../client/http/index';
import type { BatchResult } from '../../contract/batches';
import { freePort } from '../../host/server/free-port';
import type { Command } from '../product/command';
import { ownCommands } from '../product/command';
import { testServer } from '../support/test-bed';

/* 10,000 lines, while the service is killed twice and the command once. */

const lines = Number(process.env['HOLDFAST_BATCH_LINES'] ?? 10_000);
const failing = (line: number): boolean => line % 1000 === 7;
/** The heap of V8 grows until a collection is worth its time. */
const mostGrownMb = 120;

const agents = `import { agentsFor } from 'holdfast/workflow';
const { defineAgent } = agentsFor();
export const clerk = defineAgent({ name: 'clerk', description: 'Works.', instructions: '', model: 'test/model', tools: [] });`;
const config = `const usage = { inputTokens: 1, outputTokens: 1 };
const generate = async ({ messages }) => {
  const text = messages.at(-1).parts[0].text;
  if (text.startsWith('broken')) throw Object.assign(new Error('Refused.'), { code: 'model-refused', retryable: false });
  return { parts: [{ type: 'text', text: 'done ' + text }], usage };
};
export default { agents: './agents.ts', models: { providers: { test: { model: () => ({ generate }) } } } };`;

const { directory, start } = ownCommands('batches');
let port: number;
const variables = () => ({ TEMPORAL_ADDRESS: testServer().address, HOLDFAST_TASK_QUEUE: `batches-${process.pid}` });

function memoryOf({ process: { pid } }: Command): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

async function startService(): Promise<Command> {
  const service = start(['serve', '--port', String(port)], variables());
  await service.seen('Holdfast is ready.');
  return service;
}

beforeAll(async () => {
  writeFileSync(join(directory, 'agents.ts'), agents);
  writeFileSync(join(directory, 'holdfast.config.ts'), config);
  const inputs = Array.from({ length: lines }, (_, at) => JSON.stringify(`${failing(at + 1) ? 'broken' : 'order'} ${at + 1}`));
  writeFileSync(join(directory, 'orders.jsonl'), inputs.join('\n'));
  port = await freePort();
  const worker = start(['worker'], variables());
  await worker.seen('Holdfast is ready.');
}, 120_000);

it('a batch of many lines has one result a line after two kills of the service and one of the command, and the memory of the service is flat', async () => {
  let service = await startService();
  const holdfast = new ServiceClient(`http://127.0.0.1:${port}`);
  const asked = ['batch', 'orders.jsonl', '--agent', 'clerk', '--concurrency', '50', '--out', 'results.jsonl', '--url', holdfast.url];
  let command = start(asked);
  const [, id = ''] = /batch (\S+) \(/.exec(await command.seen('lines)')) ?? [];
  const startedOf = async (): Promise<number> => (await holdfast.batch(id)).started;
  const until = async (started: number): Promise<void> => {
    while ((await startedOf()) < started) await delay(500);
  };
  for (const part of [0.2, 0.4]) {
    await until(part * lines);
    service.process.kill('SIGKILL');
    await service.ended;
    service = await startService();
  }
  command.process.kill('SIGKILL');
  await command.ended;
  await until(0.5 * lines);
  const early = memoryOf(service);
  command = start(asked);
  await command.seen(`found batch ${id}`);
  await until(0.95 * lines);
  const late = memoryOf(service);
  console.log(`Memory of the service: ${Math.round(early)} MB at half of the lines, ${Math.round(late)} MB at the end.`);
  const { code, out } = await command.ended;
  expect(out).toContain(`npx holdfast retry --status failed --tag 'batch=${id}'`);
  expect(code).toBe(1);
  const results = readFileSync(join(directory, 'results.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as BatchResult);
  expect(results.map(({ line }) => line)).toEqual(Array.from({ length: lines }, (_, at) => at + 1));
  for (const { line, status, output } of results)
    expect([line, status, output]).toEqual(failing(line) ? [line, 'failed', undefined] : [line, 'completed', `done order ${line}`]);
  const failed = results.filter(({ line }) => failing(line)).length;
  expect(await holdfast.batch(id)).toMatchObject({
    status: 'completed',
    started: lines,
    counts: { completed: lines - failed, failed, running: 0, waiting: 0, refused: 0, cancelled: 0 },
  });
  expect(late - early).toBeLessThan(mostGrownMb);
}, 3_600_000);
