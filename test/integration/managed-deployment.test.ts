import { Deployment } from '../../worker/builds/deployment';
import type { HoldfastError } from '../../contract/errors';
import { variantOf } from '../support/bundle-variant';
import type { Temporal } from '../support/temporal';
import { eventually, openTemporal } from '../support/temporal';
import type { TestBed } from '../support/test-bed';
import { fixtureBundle, startTestBed, text } from '../support/test-bed';

const taskQueue = `managed-${process.pid}`;
const controller = 'temporal-worker-controller/desk';
const newBuild = variantOf(fixtureBundle(), 'You are a test.', 'You are managed.');

describe('where a controller has said that it alone decides which build is current', () => {
  let temporal: Temporal;
  let old: TestBed;
  let fresh: TestBed | undefined;
  const problems: HoldfastError[] = [];
  const place = { namespace: 'default', deploymentName: taskQueue };

  beforeAll(async () => {
    temporal = await openTemporal();
    old = await startTestBed(() => text('by the old one'), { taskQueue });
    await temporal.connection.workflowService.setWorkerDeploymentManager({
      ...place,
      managerIdentity: controller,
      identity: controller,
    });
    fresh = await startTestBed(() => text('by the new one'), {
      taskQueue,
      bundle: newBuild,
      buildCheckMs: 3_600_000,
      onProblem: (problem) => problems.push(problem),
    });
  });
  afterAll(async () => {
    for (const opened of [fresh, old, temporal]) await opened?.close();
  });
  const answered = async (): Promise<unknown> => await (await old.client.start('plain', 'Hello.')).outcome();

  it('a new worker stays up and says who decides', async () => {
    expect(problems).toEqual([
      expect.objectContaining({
        code: 'build-managed',
        message: expect.stringMatching(new RegExp(`"${controller}" decides.*${newBuild.buildId}`)),
      }),
    ]);
    expect(await answered()).toMatchObject({ text: 'by the old one' });
  });

  it('it serves new runs once the controller makes its build the current one', async () => {
    await temporal.connection.workflowService.setWorkerDeploymentCurrentVersion({
      ...place,
      buildId: newBuild.buildId,
      identity: controller,
    });
    await eventually(async () => expect(await answered()).toMatchObject({ text: 'by the new one' }));
    const standing = await new Deployment(temporal.connection, 'default', taskQueue).standing();
    expect(standing).toMatchObject({ current: newBuild.buildId, manager: controller });
  });
});
