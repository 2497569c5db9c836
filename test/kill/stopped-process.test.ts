import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../../client/connect';
import { names } from '../../contract/names';
import { errorOfReplay, startWithShortTasks } from '../support/short-tasks';
import { eventually, openTemporal } from '../support/temporal';
import { testDirectory, testServer } from '../support/test-bed';
import { killAll, spawnWorker } from '../kill/child';

afterAll(killAll);

/** As a laptop does whose lid is closed. */
it('a run goes on whose process was stopped in a quick tool for longer than its task may take', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-stopped-'));
  const taskQueue = `stopped-${process.pid}`;
  const server = testServer();
  const [temporal, client] = await Promise.all([openTemporal(), connect({ server, taskQueue })]);
  const worker = spawnWorker({
    address: server.address,
    taskQueue,
    bundle: join(testDirectory(), 'fixture-bundle.json'),
    bundles: join(directory, 'bundles'),
    payments: join(directory, 'payments'),
    quickLookups: true,
    hold: true,
  });
  await worker.line('ready');
  const steps = [{ calls: [{ tool: 'lookupOrder', input: { orderId: '42', hold: true } }] }];
  const id = await startWithShortTasks(temporal, JSON.stringify(steps), { taskQueue }, 'plain', '2s');
  const hasTimedOut = async (): Promise<boolean> =>
    ((await temporal.handle(id).fetchHistory()).events ?? []).some(({ workflowTaskTimedOutEventAttributes: late }) => late != null);
  await worker.line('in tool:lookupOrder');
  worker.process.kill('SIGSTOP');
  await eventually(async () => expect(await hasTimedOut()).toBe(true));
  await temporal.handle(id).signal(names.resumeSignal, { interruptId: 'none', answer: true });
  worker.process.kill('SIGCONT');
  await new Promise((resolve) => setTimeout(resolve, 1000));
  worker.release();
  expect(await client.run(id).result()).toContain('Seen: user, assistant, tool');
  expect(await errorOfReplay(temporal, id, await temporal.executionOf(id))).toBeUndefined();
  await Promise.all([client.close(), temporal.close()]);
});
