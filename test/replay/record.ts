import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { GenerateAnswer } from '../../activities/models/language-model';
import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import type { Run } from '../../client/runs/run';
import type { Json } from '../../contract/messages/messages';
import { names, workflowIdOf } from '../../contract/names';
import { tools as supportTools } from '../../examples/support/tools';
import type { TemporalSettings } from '../../host/connection';
import { connectTemporal } from '../../host/connection';
import { startEmbeddedServer } from '../../host/server/embedded-server';
import { recordHistory } from '../../testing/index';
import { HoldfastWorker } from '../../worker/create-worker';
import { quietRuntime } from '../../worker/runtime';
import { readHistories } from '../../host/history/history-files';
import { calls, script, text } from '../support/answers';
import { foldHistory } from './fold-history';
import { tools } from './fixtures/tools';

// Records this version's histories: `npm run build && node dist/test/replay/record.js [version]`, from the repository's root.
const root = process.cwd();
const version = process.argv[2] ?? (JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')) as { version: string }).version;
const target = resolve(root, 'test/replay/histories');

interface Scene {
  readonly name: string;
  readonly agent: string;
  readonly input: Json;
  readonly answers: readonly GenerateAnswer[];
  act?(run: Run, server: TemporalSettings): Promise<void>;
  readonly until: 'end' | 'waiting';
}

const refund = { name: 'refund', input: { orderId: '42', amount: 80 } };

const examples: readonly Scene[] = [
  {
    name: 'support-approved',
    agent: 'support',
    input: 'Refund order 42',
    answers: supportAnswers(),
    act: (run) => decide(run, 'approve'),
    until: 'end',
  },
  {
    name: 'support-rejected',
    agent: 'support',
    input: 'Refund order 42',
    answers: supportAnswers(),
    act: (run) => decide(run, 'reject'),
    until: 'end',
  },
  { name: 'support-waiting', agent: 'support', input: 'Refund order 42', answers: supportAnswers(), until: 'waiting' },
  {
    name: 'orders',
    agent: 'orders',
    input: { orderId: '43' },
    answers: [calls({ name: 'lookupOrder', input: { orderId: '43' } }), text('It is on its way.')],
    until: 'end',
  },
];

const fixtures: readonly Scene[] = [
  {
    name: 'guarded-parallel',
    agent: 'guarded',
    input: 'Go',
    answers: [
      calls(
        { name: 'lookup', input: { orderId: '42' } },
        refund,
        { name: 'refund', input: { orderId: '43', amount: 5 } },
        { name: 'lookup', input: { orderId: '43' } },
      ),
      text('Done.'),
    ],
    act: (run) => decide(run, 'approve'),
    until: 'end',
  },
  {
    name: 'plain-asks',
    agent: 'plain',
    input: 'Go',
    answers: [calls({ name: 'ask', input: { question: 'Which?' } }), text('Thanks.')],
    act: (run) => answer(run, { answer: 'this' }),
    until: 'end',
  },
  {
    name: 'plain-tool-error',
    agent: 'plain',
    input: 'Go',
    answers: [calls({ name: 'fail', input: {} }, { name: 'lookup', input: { wrong: 1 } }, { name: 'missing', input: {} }), text('Sorry.')],
    until: 'end',
  },
  { name: 'guarded-cancelled', agent: 'guarded', input: 'Go', answers: [calls(refund)], act: cancel, until: 'end' },
  { name: 'strict-failed', agent: 'strict', input: 'Go', answers: [calls({ name: 'fail', input: {} })], until: 'end' },
  {
    name: 'hooked',
    agent: 'hooked',
    input: 'Go',
    answers: [calls(refund, { name: 'lookup', input: { orderId: '42' } }), text('Done.')],
    until: 'end',
  },
  {
    name: 'guarded-continued',
    agent: 'guarded',
    input: 'Go',
    answers: [calls(refund, { name: 'ask', input: { question: 'Sure?' } }), text('Done.')],
    act: continueThenAnswer,
    until: 'end',
  },
];

function supportAnswers(): readonly GenerateAnswer[] {
  return [
    calls({ name: 'lookupOrder', input: { orderId: '42' } }),
    calls({ name: 'refund', input: { orderId: '42', amount: 80 } }),
    text('The refund is settled.'),
  ];
}

async function decide(run: Run, decision: 'approve' | 'reject'): Promise<void> {
  await run.outcome();
  for (const { id, kind } of await run.interrupts()) {
    if (kind === 'approval') await (decision === 'approve' ? run.approve(id, { by: 'ada' }) : run.reject(id, 'too much', { by: 'ada' }));
  }
}

async function answer(run: Run, value: Json): Promise<void> {
  await run.outcome();
  for (const { id, kind } of await run.interrupts()) if (kind === 'question') await run.resume(id, value, { by: 'bob' });
}

async function cancel(run: Run): Promise<void> {
  await run.outcome();
  await run.cancel();
}

async function continueThenAnswer(run: Run, server: TemporalSettings): Promise<void> {
  while ((await run.interrupts()).length < 2) await new Promise((done) => setTimeout(done, 20));
  const { connection, close } = await connectTemporal(server);
  const execution = { workflowId: workflowIdOf('default', run.id) };
  await connection.workflowService.signalWorkflowExecution({
    namespace: server.namespace,
    workflowExecution: execution,
    signalName: names.continueAsNewSignal,
    identity: 'record',
  });
  const first = await latestRunId(connection.workflowService, server, execution);
  while ((await latestRunId(connection.workflowService, server, execution)) === first) await new Promise((done) => setTimeout(done, 20));
  await close();
  await answer(run, { answer: 'yes' });
  await decide(run, 'approve');
}

async function latestRunId(
  service: {
    describeWorkflowExecution(
      request: object,
    ): Promise<{ workflowExecutionInfo?: { execution?: { runId?: string | null } | null } | null }>;
  },
  server: TemporalSettings,
  execution: object,
): Promise<string> {
  const { workflowExecutionInfo } = await service.describeWorkflowExecution({ namespace: server.namespace, execution });
  return workflowExecutionInfo?.execution?.runId ?? '';
}

async function play(client: HoldfastClient, server: TemporalSettings, scene: Scene): Promise<string> {
  const run = await client.start(scene.agent, scene.input, { id: scene.name });
  await scene.act?.(run, server);
  if (scene.until === 'end') for await (const _ of run.events()) void _;
  else await run.outcome();
  return run.id;
}

async function record(
  folder: string,
  agents: string,
  withTools: Readonly<Record<string, unknown>>,
  scenes: readonly Scene[],
  server: TemporalSettings,
  scratch: string,
): Promise<void> {
  const taskQueue = `record-${folder}`;
  let current: readonly GenerateAnswer[] = [];
  const model = { generate: async (request: Parameters<ReturnType<typeof script>>[0]) => script(...current)(request) };
  const worker = await HoldfastWorker.create({
    server,
    agents,
    tools: withTools,
    models: { providers: { recorded: { model: () => model } }, names: { default: 'recorded/model' } },
    bundles: join(scratch, folder),
    taskQueue,
  });
  const client = await connect({ server, taskQueue });
  for (const scene of scenes) {
    current = scene.answers;
    const id = await play(client, server, scene);
    const files = await recordHistory({ server, id, file: join(target, folder, `${version}-${scene.name}.json`) });
    for (const { id: file, history } of (await Promise.all(files.map((path) => readHistories(path)))).flat()) {
      mkdirSync(join(target, '..', 'expected', folder), { recursive: true });
      writeFileSync(join(target, '..', 'expected', folder, `${file}.json`), `${JSON.stringify(await foldHistory(history), null, 1)}\n`);
      console.log(`${folder}/${file}.json`);
    }
  }
  await client.close();
  await worker.shutdown();
}

async function main(): Promise<void> {
  quietRuntime();
  const scratch = mkdtempSync(join(tmpdir(), 'holdfast-record-'));
  const embedded = await startEmbeddedServer({ directory: scratch, onProgress: (line) => console.log(line) });
  try {
    const server = { address: embedded.address, namespace: 'default' };
    await record('examples', join(root, 'examples/support/agents.ts'), supportTools, examples, server, scratch);
    // Compiled agents, because TypeScript agents would bundle a second kernel beside the engine of dist.
    await record('fixtures', join(__dirname, 'fixtures/agents.js'), tools, fixtures, server, scratch);
  } finally {
    await embedded.stop();
    rmSync(scratch, { recursive: true, force: true });
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
