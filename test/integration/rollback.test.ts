import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import type { HoldfastError } from '../../contract/errors';
import type { EmbeddedServer } from '../../host/server/embedded-server';
import { startEmbeddedServer } from '../../host/server/embedded-server';
import type { WorkflowBundle } from '../../worker/bundle/bundle';
import { bundleAgents } from '../../worker/bundle/bundle';
import { gate } from '../support/gate';
import { variantOf } from '../support/bundle-variant';
import { eventually } from '../support/temporal';
import type { TestBed } from '../support/test-bed';
import { calls, startTestBed, text } from '../support/test-bed';

jest.setTimeout(120_000);

const directory = mkdtempSync(join(tmpdir(), 'holdfast-rollback-'));
const taskQueue = 'rollback';

const words = 'Words of this build.';
const agentsModule = `
import { approval } from 'holdfast/middleware';
import { defineAgent } from 'holdfast/workflow';
const base = { description: 'Helps.', instructions: '${words}', model: 'test/model', tools: ['echo'] };
export const helper = defineAgent({ ...base, name: 'helper' });
export const careful = defineAgent({ ...base, name: 'careful', middleware: [approval({ tools: { echo: true } })] });`;

let server: EmbeddedServer;
let bundle: WorkflowBundle;
let client: HoldfastClient;
const problems: HoldfastError[] = [];
let told = gate();

beforeAll(async () => {
  // Short polls, and a short time until a build counts as unserved.
  server = await startEmbeddedServer({
    directory,
    dynamicConfig: { 'matching.longPollExpirationInterval': '1s', 'history.workflowIdReuseMinimalInterval': '0s' },
  });
  client = await connect({ server, taskQueue });
  const agents = join(directory, 'agents.ts');
  writeFileSync(agents, agentsModule);
  bundle = await bundleAgents(agents);
});
afterAll(async () => {
  await client.close();
  await server.stop();
});

async function deploy(name: string): Promise<TestBed & { readonly asked: string[] }> {
  const asked: string[] = [];
  const bed = await startTestBed(
    ({ instructions, messages }) => {
      asked.push(String(instructions));
      return messages.length === 1 && String(JSON.stringify(messages)).includes('call')
        ? calls({ name: 'echo', input: { text: 'x' } })
        : text('Done.');
    },
    {
      server,
      bundle: variantOf(bundle, words, `This is ${name}.`),
      taskQueue,
      bundles: join(directory, 'bundles'),
      buildCheckMs: 250,
      // More than three times the longest poll on a busy machine.
      unservedMs: 10_000,
      onProblem: (problem) => {
        problems.push(problem);
        if (problem.code === 'build-unserved') void told.pass();
      },
    },
  );
  return { ...bed, asked };
}

const idle = { status: 'completed', text: 'Done.' };

describe('a deploy that is taken back', () => {
  let old: Awaited<ReturnType<typeof deploy>>;
  beforeAll(async () => {
    old = await deploy('old');
  });
  afterAll(() => old.close());
  beforeEach(() => {
    problems.length = 0;
    told = gate();
    old.asked.length = 0;
  });

  it('gives new runs to the worker that is left, also those that wait already, and says so once', async () => {
    const taken = await deploy('taken');
    await taken.close();
    const run = await client.start('helper', 'hello');
    expect(await run.outcome()).toMatchObject(idle);
    expect(old.asked).toEqual(['This is old.']);
    await old.worker.checkBuilds();
    expect(problems).toEqual([expect.objectContaining({ code: 'build-unserved' })]);
  });

  it('leaves the runs that were begun under it with their code', async () => {
    const taken = await deploy('taken-later');
    const pinned = await client.start('careful', 'call');
    expect(await pinned.outcome()).toMatchObject({ status: 'waiting' });
    await taken.close();
    await told.reached;
    expect(problems).toEqual([expect.objectContaining({ code: 'build-unserved' })]);
    await eventually(async () => expect(old.worker.builds).toContain(taken.worker.buildId));
    const run = await client.start('helper', 'hello');
    expect(await run.outcome()).toMatchObject(idle);
    expect(old.asked).toEqual(['This is old.']);
    const [interrupt] = await pinned.interrupts();
    await pinned.approve(interrupt?.id ?? '');
    expect(await pinned.outcome()).toMatchObject(idle);
    expect(old.asked).toEqual(['This is old.', 'This is taken-later.']);
  });
});
