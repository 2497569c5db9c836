import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleAgents } from '../../worker/bundle/bundle';
import { eventually, openTemporal } from '../support/temporal';
import { startTestBed, text } from '../support/test-bed';

const directory = mkdtempSync(join(tmpdir(), 'holdfast-question-'));
const agents = join(directory, 'agents.ts');

writeFileSync(
  agents,
  `
import { customAgent } from 'holdfast/workflow';
export const clock = customAgent({
  name: 'clock',
  description: 'Acts.',
  agents: [],
  async *run(_, ctx) {
    let overdue = false;
    void ctx.sleep('2s').then(() => (overdue = true));
    await ctx.sleep('1s');
    for (let turn = 0; turn < 150; turn++) await Promise.resolve();
    const then = overdue ? 'delete the whole account' : 'delete nothing';
    return (await ctx.interrupt({ question: 'May I ' + then + '?' })) === 'yes' ? 'DONE: ' + then : 'nothing';
  },
});
`,
);

it('a yes on a server does not count for the question of another branch, which code takes behind a continue-as-new', async () => {
  const temporal = await openTemporal();
  const bed = await startTestBed(() => text('Nothing.'), {
    agents,
    bundle: await bundleAgents(agents),
    bundles: join(directory, 'bundles'),
  });
  const run = await bed.client.start('clock', 'Go.');
  expect((await run.outcome()).status).toBe('waiting');
  await eventually(async () => {
    const { events } = await temporal.handle(run.id).fetchHistory();
    expect((events ?? []).filter(({ timerFiredEventAttributes: fired }) => fired != null)).toHaveLength(2);
  });
  const [asked] = await run.interrupts();
  await temporal.goOnAsNew(run.id);
  await run.resume(asked?.id ?? '', 'yes').catch(() => undefined);
  await eventually(async () => expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'frame-changed' } }));
  await bed.close();
  await temporal.close();
});
