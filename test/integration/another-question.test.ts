import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkflowBundle } from '../../worker/bundle';
import { bundleAgents } from '../../worker/bundle';
import { names } from '../../contract/names';
import { variantOf } from '../support/bundle-variant';
import type { Temporal } from '../support/temporal';
import { eventually, openTemporal } from '../support/temporal';
import type { TestBed } from '../support/test-bed';
import { startTestBed, text } from '../support/test-bed';

const directory = mkdtempSync(join(tmpdir(), 'holdfast-question-'));
const taskQueue = `question-${process.pid}`;
const agents = join(directory, 'agents.ts');
const draft = 'delete one draft';
const account = 'delete the whole account';

writeFileSync(
  agents,
  `
import { customAgent } from 'holdfast/workflow';
const what = '${draft}';
export const desk = customAgent({
  name: 'desk',
  description: 'Acts.',
  agents: [],
  async *run(_, ctx) {
    return (await ctx.interrupt({ question: 'May I ' + what + '?' })) === 'yes' ? 'DONE: ' + what : 'nothing';
  },
});
export const clock = customAgent({
  name: 'clock',
  description: 'Acts.',
  agents: [],
  async *run(_, ctx) {
    let overdue = false;
    void ctx.sleep('2s').then(() => (overdue = true));
    await ctx.sleep('1s');
    for (let turn = 0; turn < 150; turn++) await Promise.resolve();
    const then = overdue ? '${account}' : 'delete nothing';
    return (await ctx.interrupt({ question: 'May I ' + then + '?' })) === 'yes' ? 'DONE: ' + then : 'nothing';
  },
});
`,
);

describe('a yes on a server', () => {
  let temporal: Temporal;
  let bundle: WorkflowBundle;
  let old: TestBed;
  const deploy = (deployed: WorkflowBundle): Promise<TestBed> =>
    startTestBed(() => text('Nothing.'), { agents, bundle: deployed, taskQueue, bundles: join(directory, 'bundles') });

  beforeAll(async () => {
    temporal = await openTemporal();
    bundle = await bundleAgents(agents);
    old = await deploy(bundle);
  });
  afterAll(async () => {
    await old.close();
    await temporal.close();
  });

  it('does not count for the question of another branch, which code takes behind a continue-as-new', async () => {
    const run = await old.client.start('clock', 'Go.', { id: `${taskQueue}-clock` });
    expect((await run.outcome()).status).toBe('waiting');
    await eventually(async () => {
      const { events } = await temporal.handle(run.id).fetchHistory();
      expect((events ?? []).filter(({ timerFiredEventAttributes: fired }) => fired != null)).toHaveLength(2);
    });
    const [asked] = await run.interrupts();
    const first = await temporal.executionOf(run.id);
    await temporal.handle(run.id).signal(names.continueAsNewSignal);
    await temporal.untilAnotherExecution(run.id, first);
    await run.resume(asked?.id ?? '', 'yes').catch(() => undefined);
    await eventually(async () => expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'frame-changed' } }));
  });

  it('does not count for the question that newer code asks at its place', async () => {
    const run = await old.client.start('desk', 'Go.', { id: `${taskQueue}-desk` });
    expect((await run.outcome()).status).toBe('waiting');
    const next = await deploy(variantOf(bundle, draft, account));
    try {
      await expect(next.client.run(run.id).upgrade()).rejects.toMatchObject({ code: 'frame-changed' });
      await run.resume((await run.interrupts())[0]?.id ?? '', 'yes');
      expect(await run.outcome()).toMatchObject({ status: 'completed', output: `DONE: ${draft}` });
    } finally {
      await next.close();
    }
  });
});
