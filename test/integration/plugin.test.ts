import { randomUUID } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import type { WorkerOptions } from '@temporalio/worker';
import { NativeConnection, Worker, bundleWorkflowCode } from '@temporalio/worker';
import type { HoldfastClient } from 'holdfast/client';
import { connect } from 'holdfast/client';
import type { Run } from '../../client/runs/run';
import { codeOf, messageOf } from '../../contract/errors';
import { currentCall } from '../../activities/calls/call-context';
import type { HoldfastPlugin, ModelsOptions, PluginOptions } from 'holdfast/worker';
import { holdfastPlugin } from 'holdfast/worker';
import { quietRuntime } from '../../worker/runtime';
import { fixtureTools as tools } from '../fixtures/tools';
import { eventually } from '../support/temporal';
import { missingExamples } from '../support/document-examples';
import { calls, script, testServer, text } from '../support/test-bed';

const fixtures = join(__dirname, '..', 'fixtures');
const workflowsPath = join(fixtures, 'plugin-workflows.ts');
const answer = script(calls({ name: 'refund', input: { orderId: '42', amount: 80 } }), text('Paid back.'));

const agentsPath = join(fixtures, 'plugin-agents.ts');
const models: ModelsOptions = { providers: { test: { model: () => ({ generate: async (request) => answer(request) }) } } };
const pluginOptions: PluginOptions = { agents: agentsPath, tools, models };
const activities = { greet: async (name: string): Promise<string> => (name === 'nobody' ? outside() : `Hello ${name}.`) };

function outside(): string {
  return currentCall() === undefined ? 'Bye.' : 'in a run';
}

// The examples of docs/guides/temporal-worker.md, word for word; the last tests compare.

export async function startWorker(connection: NativeConnection, taskQueue: string): Promise<Worker> {
  const holdfast = holdfastPlugin({ agents: agentsPath, tools, models });
  return Worker.create({ connection, taskQueue, workflowsPath, activities, plugins: [holdfast] });
}

export async function approveAll(client: Client, taskQueue: string, id: string): Promise<unknown> {
  const holdfast = await connect({ client, taskQueue });
  const run = holdfast.run(id);
  for (const interrupt of await run.interrupts()) await run.approve(interrupt.id);
  return run.result();
}

export const makeBundle = (): Promise<{ code: string }> =>
  bundleWorkflowCode({ workflowsPath, plugins: [holdfastPlugin({ agents: agentsPath, tools, models })] });

let connection: Connection;
let native: NativeConnection;
let client: Client;
let bundled: { readonly code: string };

beforeAll(async () => {
  quietRuntime();
  const { address } = testServer();
  [connection, native] = await Promise.all([Connection.connect({ address }), NativeConnection.connect({ address })]);
  client = new Client({ connection });
  bundled = await makeBundle();
});

afterAll(async () => {
  await connection.close();
  await native.close();
});

const nothing = (): void => undefined;
const silent = { log: nothing, trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing };

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()));
});

async function handWritten(
  taskQueue: string,
  options: Partial<WorkerOptions> = {},
  plugin = holdfastPlugin(pluginOptions),
): Promise<() => Promise<void>> {
  return running(await Worker.create({ connection: native, taskQueue, activities, plugins: [plugin], ...options }));
}

function running(worker: Worker): () => Promise<void> {
  const done = worker.run();
  const end = async (): Promise<void> => {
    if (worker.getState() === 'RUNNING') worker.shutdown();
    await done;
  };
  ends.push(end);
  return end;
}

const refusal = (making: Promise<unknown>): Promise<{ code: unknown; message: string }> =>
  making.then(
    () => ({ code: undefined, message: 'nothing was refused' }),
    (error: unknown) => ({ code: codeOf(error), message: messageOf(error) }),
  );

async function asking(holdfast: HoldfastClient, id: string): Promise<Run> {
  const run = holdfast.run(id);
  await eventually(async () => expect((await run.outcome()).status).toBe('waiting'));
  return run;
}

describe('a hand-written worker with the plugin', () => {
  it('runs a workflow of its own that starts an agent as a child, which a person answers, and goes on after a crash', async () => {
    const taskQueue = `plugin-${randomUUID()}`;
    const id = `complaint-${randomUUID()}`;
    const end = running(await startWorker(native, taskQueue));
    const handle = await client.workflow.start('complaint', { workflowId: `own-${id}`, taskQueue, args: ['Ada', id] });
    const holdfast = await connect({ client, taskQueue });
    const run = await asking(holdfast, id);
    await end();

    const again = await handWritten(taskQueue, { workflowBundle: bundled });
    expect(await approveAll(client, taskQueue, id)).toBe('Paid back.');
    expect(await handle.result()).toBe('Hello Ada. Paid back. Bye.');
    expect((await run.transcript()).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    await holdfast.close();
    // The connection is the user's.
    expect(await handle.describe()).toMatchObject({ status: { name: 'COMPLETED' } });
    await again();
  });

  it('leaves the workflows of the user as they are', async () => {
    const taskQueue = `plugin-${randomUUID()}`;
    const end = await handWritten(taskQueue, { workflowBundle: bundled });
    const start = (type: string): Promise<unknown> => client.workflow.execute(type, { workflowId: randomUUID(), taskQueue });
    expect(await start('depth')).toBeGreaterThan(8);
    expect(await start('somethingElse')).toBe('dynamic');
    await end();
  });

  it('serves agents alone, and takes the plugin from its connection and from its options', async () => {
    const taskQueue = `plugin-${randomUUID()}`;
    const plugin: HoldfastPlugin = holdfastPlugin(pluginOptions);
    const { address } = testServer();
    const own = await NativeConnection.connect({ address, plugins: [plugin] });
    const ownClient = new Client({ connection: await Connection.connect({ address, plugins: [plugin] }), plugins: [plugin] });
    const end = await handWritten(taskQueue, { connection: own }, plugin);
    const holdfast = await connect({ client: ownClient, taskQueue });
    const run = await holdfast.start('clerk', 'Refund order 42.');
    expect((await run.outcome()).status).toBe('waiting');
    const [interrupt] = await run.interrupts();
    await run.reject(interrupt!.id, 'No.');
    expect(await run.result()).toBe('Paid back.');
    await holdfast.close();
    await end();
    await Promise.all([own.close(), ownClient.connection.close()]);
  });

  it('with worker versions pins runs to their build, whatever other workflows do', async () => {
    const taskQueue = `plugin-${randomUUID()}`;
    const version = { deploymentName: taskQueue, buildId: 'one' };
    const end = await handWritten(taskQueue, {
      workflowBundle: bundled,
      workerDeploymentOptions: { version, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' },
    });
    for (let set = false; !set;)
      set = await connection.workflowService
        .setWorkerDeploymentCurrentVersion({ namespace: 'default', deploymentName: taskQueue, buildId: 'one', identity: 'test' })
        .then(
          () => true,
          () => new Promise<boolean>((resolve) => setTimeout(resolve, 50, false)),
        );
    const id = `versioned-${randomUUID()}`;
    const handle = await client.workflow.start('complaint', { workflowId: `own-${id}`, taskQueue, args: ['Ada', id] });
    const holdfast = await connect({ client, taskQueue });
    const run = await asking(holdfast, id);
    const behaviorOf = async (workflowId: string): Promise<unknown> => {
      const { raw } = await client.workflow.getHandle(workflowId).describe();
      return raw.workflowExecutionInfo?.versioningInfo?.behavior;
    };
    const [pinned, autoUpgrade] = [1, 2];
    expect([await behaviorOf(`default/${id}`), await behaviorOf(`own-${id}`)]).toEqual([pinned, autoUpgrade]);
    expect(await run.upgrade()).toEqual({ build: 'one', moved: false });
    await handle.cancel();
    await holdfast.close();
    await end();
  });
});

describe('the plugin refuses', () => {
  const making = (options: Partial<WorkerOptions>, given: Partial<PluginOptions> = {}): Promise<{ code: unknown; message: string }> =>
    refusal(handWritten(`plugin-${randomUUID()}`, options, holdfastPlugin({ ...pluginOptions, ...given })).then((end) => end()));

  it('a bundle without agents, names that are taken, and agents that do not load', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-plugin-'));
    const written = (name: string, content: string): string => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    const plain = await bundleWorkflowCode({ workflowsPath: join(fixtures, 'clashing-workflows.ts'), logger: silent });
    const bundlerOptions = { webpackConfigHook: (config: object) => config };
    expect(await making({ workflowBundle: plain })).toMatchObject({
      code: 'config-invalid',
      message: expect.stringContaining('has no agents'),
    });
    expect(await making({ workflowBundle: { codePath: written('plain.js', plain.code) } })).toMatchObject({ code: 'config-invalid' });
    const version = { deploymentName: 'unused', buildId: 'one' };
    expect(
      await making({
        workflowBundle: bundled,
        workerDeploymentOptions: { version, useWorkerVersioning: false },
      }),
    ).toMatchObject({ code: 'config-invalid', message: expect.stringContaining('useWorkerVersioning') });
    expect(await making({ workflowBundle: bundled, activities: { callTool: nothing } })).toMatchObject({
      code: 'config-invalid',
      message: expect.stringContaining("activity 'callTool'"),
    });
    expect(await making({ workflowsPath: join(fixtures, 'clashing-workflows.ts'), bundlerOptions })).toMatchObject({
      code: 'agents-invalid',
      message: expect.stringContaining("the workflows export 'agentRun'"),
    });
    expect(await making({ workflowsPath }, { agents: written('none.ts', 'export const agents = 1;') })).toMatchObject({
      code: 'agents-invalid',
      message: expect.stringContaining('exports no agent'),
    });
    expect(
      await making(
        { workflowsPath },
        { agents: written('node.ts', "import { hostname } from 'node:os';\nexport const name = hostname();") },
      ),
    ).toMatchObject({
      code: 'agents-invalid',
      message: expect.stringContaining("imports 'node:os' of Node"),
    });
    expect(await making({ workflowsPath }, { agents: join(folder, 'nowhere.ts') })).toMatchObject({ code: 'agents-invalid' });
  });

  it('a client that knows its server already, or is none', async () => {
    expect(await refusal(connect({ client, address: 'localhost:7233' }))).toMatchObject({ code: 'config-invalid' });
    expect(await refusal(connect({ client: {} as Client }))).toMatchObject({ code: 'config-invalid' });
  });
});

it('docs/guides/temporal-worker.md shows code that runs here and in the bundle', () => {
  expect(missingExamples('guides/temporal-worker', [__filename, workflowsPath])).toEqual([]);
});
