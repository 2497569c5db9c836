import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceClient } from '../../client/http/index';
import type { BatchResult, ShownBatch } from '../../contract/batches';
import { freePort } from '../../host/server/free-port';
import { eventually } from '../support/eventually';
import { testServer } from '../support/test-bed';
import type { Command } from './command';
import { ownCommands } from './command';

/** Lines of 6 KB: more than the store takes in one piece. */
const lines = 60;

const agents = `import { agentsFor } from 'holdfast/workflow';
const { defineAgent } = agentsFor();
export const clerk = defineAgent({ name: 'clerk', description: 'Works.', instructions: '', model: 'test/model', tools: [] });`;
const config = `import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
const usage = { inputTokens: 1, outputTokens: 1 };
const generate = async ({ messages }) => ({ parts: [{ type: 'text', text: 'done ' + messages.at(-1).parts[0].text.trim() }], usage });
async function* lines() {
  appendFileSync('asked', 'x');
  const answer = readFileSync('asked', 'utf8').length;
  for (let line = 1; line <= ${lines}; line++) yield ('order ' + line + ' of answer ' + answer).padEnd(6000);
  if (answer > 1) return;
  writeFileSync('hangs', '');
  await new Promise(() => undefined);
}
export default {
  agents: './agents.ts',
  models: { providers: { test: { model: () => ({ generate }) } } },
  schedules: { night: { cron: '0 0 1 1 *', batch: { agent: 'clerk', concurrency: 4, lines } } },
};`;

const { directory, start } = ownCommands('scheduled-batch');
const name = `scheduled-${randomUUID()}`;
const variables = { TEMPORAL_ADDRESS: testServer().address, HOLDFAST_TASK_QUEUE: name, HOLDFAST_TENANT: name };

it('a time of a schedule has one batch with the lines of one answer, although the service is killed in the answer and in the starts', async () => {
  writeFileSync(join(directory, 'agents.ts'), agents);
  writeFileSync(join(directory, 'holdfast.config.ts'), config);
  const port = await freePort();
  const serve = async (): Promise<Command> => {
    const service = start(['serve', '--port', String(port)], variables);
    await service.seen('Holdfast is ready.');
    return service;
  };
  const again = async (service: Command): Promise<Command> => {
    service.process.kill('SIGKILL');
    await service.ended;
    return serve();
  };
  const worker = start(['worker'], variables);
  await worker.seen('Holdfast is ready.');
  let service = await serve();
  const holdfast = new ServiceClient(`http://127.0.0.1:${port}`);
  await holdfast.runSchedule('night');
  await eventually(async () => existsSync(join(directory, 'hangs')) || undefined);
  service = await again(service);
  const id = await eventually(async () => (await holdfast.schedule('night')).runs[0]?.id);
  const until = (isSo: (batch: ShownBatch) => boolean): Promise<ShownBatch> =>
    eventually(async () => {
      const batch = await holdfast.batch(id);
      return isSo(batch) ? batch : undefined;
    });
  await until(({ started }) => started >= 10);
  await again(service);
  expect(await until(({ status }) => status !== 'running')).toMatchObject({ status: 'completed', lines, started: lines });
  const results: BatchResult[] = [];
  for await (const result of holdfast.batchResults(id)) results.push(result);
  expect(results).toEqual(
    Array.from({ length: lines }, (_, at) => ({
      ...{ line: at + 1, id: `${id}-${String(at + 1).padStart(6, '0')}`, status: 'completed' },
      output: `done order ${at + 1} of answer 2`,
    })),
  );
  expect(readFileSync(join(directory, 'asked'), 'utf8')).toBe('xx');
  expect((await holdfast.batches()).batches.map((batch) => batch.id)).toEqual([id]);
}, 300_000);
