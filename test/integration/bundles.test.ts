import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../../client/connect';
import type { HoldfastClient } from '../../client/connect';
import type { Run } from '../../client/runs/run';
import type { HoldfastError } from '../../contract/errors';
import { Deployment } from '../../worker/builds/deployment';
import { variantOf } from '../support/bundle-variant';
import { eventually } from '../support/temporal';
import type { TestBed } from '../support/test-bed';
import { calls, fixtureBundle, startTestBed, testDirectory, testServer, text } from '../support/test-bed';

describe('the bundle for the sandbox', () => {
  const modules = [...fixtureBundle().code.matchAll(/^\/\*\*\*\/ "([^"]+)"/gm)].map(([, name]) => name ?? '');

  it('is made of modules that can be told apart', () => {
    expect(modules).toContain('./kernel/turn/loop.ts');
    expect(modules).toContain('./test/fixtures/agents.ts');
  });

  it('has no zod, which costs 6 ms and 570 KB for each run', () => {
    expect(modules.filter((name) => name.includes('/zod/'))).toEqual([]);
  });

  it('has no Node module', () => {
    const code = fixtureBundle().code;
    const required = [...code.matchAll(/require\("([^"]+)"\)/g)]
      .map(([, name]) => name)
      .filter((name) => !/^(\.|@temporalio\/|__temporal)/.test(name ?? ''));
    expect(required).toEqual([]);
    expect(modules.filter((name) => /^(external )?"?(node:|fs|path|crypto|os|http|child_process|worker_threads)/.test(name))).toEqual([]);
  });

  it('has nothing of what runs outside of the sandbox', () => {
    expect(modules.filter((name) => /^\.\/(activities|worker|client|host|service|cli|testing|contract\/schemas)\//.test(name))).toEqual([]);
  });
});

/** Checks one bundle repeatedly and prints the MB added outside of V8's heap. */
const script = `
  const [checks, file] = process.argv.slice(1);
  const { loadInSandbox } = require(checks);
  const bundle = require(file);
  const times = 8;
  (async () => {
    await loadInSandbox(bundle, 'It does not');
    const before = process.memoryUsage().external;
    for (let n = 0; n < times; n++) await loadInSandbox(bundle, 'It does not');
    console.log((process.memoryUsage().external - before) / times / 2 ** 20);
    process.exit();
  })();
`;

it('a bundle that was checked leaves nothing of its source map behind', () => {
  const compiled = join(__dirname, '..', '..', 'dist', 'worker', 'bundle', 'check-bundle.js');
  const bundle = join(testDirectory(), 'fixture-bundle.json');
  const added = Number(execFileSync(process.execPath, ['-e', script, compiled, bundle], { encoding: 'utf8' }));
  // The source map in memory takes more than 2 MB.
  expect(added).toBeLessThan(1);
});

const taskQueue = `damaged-${process.pid}`;
const bundles = join(mkdtempSync(join(tmpdir(), 'holdfast-damaged-')), 'bundles');
const done = { status: 'completed', text: 'Done.' };

const problems: HoldfastError[] = [];
const buildOf = (name: string): ReturnType<typeof variantOf> => variantOf(fixtureBundle(), 'You are a test.', `You are ${name}.`);

function deploy(name: string): Promise<TestBed> {
  return startTestBed(
    ({ messages }) => (messages.length === 1 ? calls({ name: 'refund', input: { orderId: '42', amount: 80 } }) : text('Done.')),
    { bundle: buildOf(name), taskQueue, bundles, buildCheckMs: 3_600_000, onProblem: (problem) => problems.push(problem) },
  );
}

async function approve(run: Run): Promise<unknown> {
  const [interrupt] = await run.interrupts();
  await run.approve(interrupt?.id ?? '', { by: 'ada' });
  return run.outcome();
}

describe('a file in the directory of bundles that is damaged', () => {
  let client: HoldfastClient;
  let current: TestBed;
  const waiting: Record<string, Run> = {};
  beforeAll(async () => {
    client = await connect({ server: testServer(), taskQueue });
    for (const name of ['one', 'two', 'three']) {
      const bed = await deploy(name);
      const run = await client.start('guarded', 'Refund.', { id: `${taskQueue}-${name}` });
      expect(await run.outcome()).toMatchObject({ status: 'waiting' });
      waiting[name] = run;
      await bed.close();
    }
    const names = ['one', 'two', 'three'].map((name) => buildOf(name).buildId).sort();
    // The first bundle checked, so that others come after the damaged bundle.
    const [damaged = ''] = names;
    waiting['damaged'] = waiting[['one', 'two', 'three'].find((name) => buildOf(name).buildId === damaged) ?? ''] as Run;
    const file = join(bundles, `${damaged}.js`);
    truncateSync(file, readFileSync(file).length - 100);
    current = await deploy('four');
  });
  afterAll(async () => {
    await current.close();
    await client.close();
  });

  const whole = (): readonly Run[] =>
    ['one', 'two', 'three'].flatMap((name) => (waiting[name] === waiting['damaged'] ? [] : (waiting[name] ?? [])));

  it('is said once, and stops neither the runs of other builds nor a count that fails', async () => {
    await eventually(async () => {
      await current.worker.checkBuilds();
      expect(current.worker.builds).toHaveLength(3);
    });
    for (let looks = 0; looks < 3; looks++) await current.worker.checkBuilds();
    expect(problems).toEqual([
      expect.objectContaining({
        code: 'build-damaged',
        message: expect.stringMatching(/is damaged: .*\. An open run was begun under it\. It waits\.$/),
      }),
    ]);
    for (const run of whole()) expect(await approve(run)).toMatchObject(done);
  });

  it('is mended when the same code is deployed again, and its run goes on under the newest worker, too', async () => {
    const name = ['one', 'two', 'three'].find((each) => waiting[each] === waiting['damaged']) ?? '';
    const again = await deploy(name);
    await again.close();
    problems.length = 0;
    await current.worker.checkBuilds();
    expect(current.worker.builds).toContain(buildOf(name).buildId);
    expect(problems).toEqual([]);
    expect(await approve(waiting['damaged'] as Run)).toMatchObject(done);
  });

  it('is looked for although the server says nothing of another build, which is told when it lasts', async () => {
    problems.length = 0;
    const count = jest.spyOn(Deployment.prototype, 'openRuns').mockRejectedValue(new Error('14 UNAVAILABLE'));
    for (let looks = 0; looks < 3; looks++) await current.worker.checkBuilds();
    const asked = new Set(count.mock.calls.map(([buildId]) => buildId));
    count.mockRestore();
    expect(asked.size).toBe(3);
    expect(problems.map(({ code, message }) => [code, message.replace(/[0-9a-f]{16}/, 'X')])).toEqual(
      Array.from({ length: 3 }, () => ['build-check-failed', 'Build X could not be looked after, and runs of it may wait: 14 UNAVAILABLE']),
    );
  });
});
