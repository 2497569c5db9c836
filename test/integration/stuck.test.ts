import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { msToTs } from '@temporalio/common/lib/time';
import type { Worker } from '@temporalio/worker';
import { HoldfastError } from '../../contract/errors';
import { workflowIdOf } from '../../contract/names';
import type { TemporalConnection } from '../../host/connection';
import { connectTemporal } from '../../host/connection';
import { setUpNamespace } from '../../host/server/namespace-setup';
import type { WorkflowBundle } from '../../worker/bundle/bundle';
import { bundleAgents } from '../../worker/bundle/bundle';
import { HoldfastWorker } from '../../worker/create-worker';
import { Deployment } from '../../worker/builds/deployment';
import { WatchedWorker } from '../../worker/threads/watched-worker';
import { variantOf } from '../support/bundle-variant';
import type { Temporal } from '../support/temporal';
import { eventually, openTemporal } from '../support/temporal';
import type { TestBed } from '../support/test-bed';
import { calls, script, startTestBed, testServer, text } from '../support/test-bed';

const answer = script(calls({ name: 'echo', input: { text: 'hello' } }), text('Done.'));

let temporal: Temporal;
let bed: TestBed;
/** A bed of its own, because a looping run occupies the worker's only workflow thread. */
let jamming: TestBed;
beforeAll(async () => {
  temporal = await openTemporal();
  bed = await startTestBed(answer);
  jamming = await startTestBed(answer, { endlessLoopMs: 3000 });
});
afterAll(async () => {
  await Promise.all([bed, jamming].map((one) => one.close()));
  await temporal.close();
});

// Together, because the tests wait for time.

it.concurrent('a run that is stuck refuses answers and upgrades, and says why', async () => {
  const run = await jamming.client.start('jams', 'hello');
  const waiting = await run.outcome();
  if (waiting.status !== 'waiting') throw new Error(JSON.stringify(waiting));
  const [first, second] = waiting.interrupts;
  await temporal.handle(run.id).signal('answer', { interruptId: first?.id, answer: 1 });
  await eventually(async () => expect((await run.view()).status).toBe('stuck'));
  const { error, nextOffset: offset } = await run.view();
  expect(await jamming.client.feedSource.stuck(workflowIdOf(jamming.client.place.tenant, run.id))).toEqual({ error, offset });
  await expect(run.resume(second?.id ?? '', 2)).rejects.toMatchObject({ code: 'run-stuck' });
  await expect(run.upgrade({ timeout: '1s' })).rejects.toMatchObject({ code: 'run-stuck', message: (await run.view()).error?.message });
  await run.terminate();
});

it.concurrent('a rejection that nobody waits for is shown, while other runs go on', async () => {
  const run = await bed.client.start('floats', 'hello');
  const outcome = await run.outcome();
  expect(['stuck', 'failed']).toContain(outcome.status);
  expect(outcome).toMatchObject({ error: { message: expect.stringContaining('nobody waits for this') } });
  const other = await bed.client.start('signed', 'hello');
  expect(await other.outcome()).toMatchObject({ status: 'completed' });
  if (outcome.status === 'stuck') await temporal.handle(run.id).terminate('enough');
});

describe('a worker', () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-agents-'));
  let polled = 0;
  async function refusal(code: string, options: object = {}): Promise<unknown> {
    const path = join(directory, `agents-${polled++}.ts`);
    writeFileSync(path, code);
    return startTestBed(answer, { agents: path, ...options }).then(
      () => 'it started',
      (error: unknown) => error,
    );
  }
  const agent = "defineAgent({ name: 'one', description: 'One.', instructions: '', model: 'test/model', tools: [] })";

  describe('refuses an agents module that', () => {
    let bundle: WorkflowBundle;
    beforeAll(async () => {
      const path = join(directory, 'bundled.ts');
      const code = `import { defineAgent } from 'holdfast/workflow'; const agent = () => ${agent}; export const a = 'one thing'; export const b = 'another';`;
      writeFileSync(path, `${code} export const c = agent.name;`);
      bundle = await bundleAgents(path);
    });

    it.each([
      ['throws when it is loaded', 'agent()', "(() => { throw new Error('no such setting'); })()", 'no such setting'],
      ['reads the environment', 'agent()', 'process.env.KEY.length', 'process'],
      ['has two agents of one name', 'agent()', 'agent()', 'Two agents are named "one"'],
      ['exports no agent', '1', '2', 'exports no agent'],
    ])('%s', async (_, one, other, message) => {
      const changed = variantOf(variantOf(bundle, "'one thing'", one), "'another'", other);
      const refused: unknown = await startTestBed(answer, { bundle: changed }).catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: expect.stringMatching(/agents?-invalid/), message: expect.stringContaining(message) });
    });
  });

  it('refuses an agents module in which something waits at the top level, and says where', async () => {
    writeFileSync(join(directory, 'texts.ts'), "export const text = await Promise.resolve('Help.');");
    const code = `import { defineAgent } from 'holdfast/workflow'; import { text } from './texts'; export const a = ${agent}; export const b = text;`;
    expect(await refusal(code)).toMatchObject({ code: 'agents-invalid', message: expect.stringMatching(/`await` .*texts\.ts/) });
  });

  it('refuses an agents module that imports its tools as a value, and says which import brings what and what to write', async () => {
    const tools = "import { readFileSync } from 'node:fs'; import { connect } from 'net'; export const tools = { readFileSync, connect };";
    writeFileSync(join(directory, 'tools.ts'), tools);
    const code = `import { defineAgent } from 'holdfast/workflow'; import { tools } from './tools'; export const a = ${agent}; export const b = tools;`;
    const { code: known, message, cause } = (await refusal(code)) as HoldfastError;
    const file = `agents-${polled - 1}.ts`;
    expect(known).toBe('agents-invalid');
    expect(message).toContain(`${file} imports './tools', and tools.ts imports 'node:fs' of Node and 'net' of Node.`);
    expect(message).toContain("`import type { … } from './tools'`");
    expect(message.length).toBeLessThan(600);
    expect((cause as Error).message).toContain('webpack');
  });

  it('names the file and the import of a module that there is not', async () => {
    expect(await refusal("import { x } from './nowhere'; export const a = x;")).toMatchObject({
      code: 'agents-invalid',
      message: expect.stringMatching(/cannot be bundled for the sandbox\. Module not found: .*'\.\/nowhere'/),
    });
  });

  it('refuses an agents module with a mistake in it, and names the file', async () => {
    expect(await refusal('export const a = {;')).toMatchObject({
      code: 'agents-invalid',
      message: expect.stringContaining(`agents-${polled - 1}.ts`),
    });
    expect(await startTestBed(answer, { agents: join(directory, 'missing.ts') }).catch((error: unknown) => error)).toMatchObject({
      code: 'agents-invalid',
    });
  });

  it('refuses a namespace without the search attributes, and says how to register them', async () => {
    const namespace = `bare-${process.pid}`;
    await temporal.connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: msToTs('1 day') });
    await eventually(async () => {
      const refused: unknown = await startTestBed(answer, { server: { ...testServer(), namespace } }).catch((error: unknown) => error);
      expect(refused).toMatchObject({
        code: 'search-attribute-missing',
        message: expect.stringContaining('temporal operator search-attribute create'),
      });
    });
  });

  it('says why it cannot start, and does not go on polling', async () => {
    const refused = new HoldfastError('server-unreachable', 'The server does not take this build.');
    jest.spyOn(Deployment.prototype, 'makeCurrent').mockRejectedValueOnce(refused);
    const shutdown = jest.spyOn(HoldfastWorker.prototype, 'shutdown');
    await expect(startTestBed(answer)).rejects.toBe(refused);
    expect(shutdown.mock.contexts.map((worker) => (worker as HoldfastWorker).builds.length)).toEqual([1]);
    await expect((shutdown.mock.contexts[0] as HoldfastWorker).run()).resolves.toBeUndefined();
    shutdown.mockRestore();
  });

  it('starts although the server is too busy to say which older builds have open runs', async () => {
    jest.spyOn(Deployment.prototype, 'standing').mockRejectedValueOnce(new Error('4 DEADLINE_EXCEEDED'));
    const bed = await startTestBed(answer);
    const run = await bed.client.start('plain', 'hello');
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    await bed.close();
  });

  it('says so when it stops although nobody asked', async () => {
    const create = jest.spyOn(WatchedWorker, 'create');
    const bed = await startTestBed(answer);
    const [inner] = await Promise.all(create.mock.results.map(({ value }) => value as Promise<Worker>));
    create.mockRestore();
    inner?.shutdown();
    await expect(bed.worker.run()).rejects.toMatchObject({ code: 'internal', message: expect.stringContaining('stopped unasked') });
    await bed.client.close();
    await bed.worker.shutdown().catch(() => undefined);
  });
});

describe('a namespace that keeps runs for a short time', () => {
  const namespace = `retention-${process.pid}`;
  const { address } = testServer();
  let connection: TemporalConnection;

  async function problemsWith(hours: number): Promise<readonly HoldfastError[]> {
    await connection.connection.workflowService.updateNamespace({
      namespace,
      config: { workflowExecutionRetentionTtl: msToTs(hours * 3_600_000) },
    });
    const problems: HoldfastError[] = [];
    const bed = await startTestBed(() => text('Done.'), {
      server: { address, namespace },
      onProblem: (problem) => problems.push(problem),
    });
    await bed.worker.checkBuilds();
    await bed.close();
    return problems;
  }

  beforeAll(async () => {
    connection = await connectTemporal({ address, namespace });
    await setUpNamespace(connection.connection, namespace);
  });
  afterAll(() => connection.close());

  it('is told once at the start of a worker, with the command that changes it', async () => {
    const command = `temporal operator namespace update --address ${address} --namespace ${namespace} --retention 30d`;
    expect(await problemsWith(24)).toMatchObject([
      { code: 'retention-short', message: expect.stringMatching(/for 1 day\. .*--retention 30d$/), details: { command } },
    ]);
    expect(await problemsWith(36)).toMatchObject([{ message: expect.stringContaining('for 36 hours.') }]);
  });

  it('is nothing to tell of from seven days on', async () => {
    expect(await problemsWith(7 * 24)).toEqual([]);
  });
});
