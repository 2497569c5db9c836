import type { Connection } from '@temporalio/client';
import { Deployment } from '../../../worker/builds/deployment';
import { errorSaying } from '../../support/failures';

const refused = Object.assign(new Error('2 UNKNOWN: something went wrong, please retry'), { code: 2 });
const notFound = Object.assign(new Error('5 NOT_FOUND: no Worker Deployment found'), { code: 5 });

function deploymentOn(service: object): Deployment {
  const connection = {
    options: { address: 'temporal:7233' },
    withDeadline: (_: number, run: () => unknown) => run(),
    workflowService: service,
  } as unknown as Connection;
  return new Deployment(connection, 'default', 'orders', 0);
}

describe('a build that is to be the current one', () => {
  const standing = (current: string | undefined, lastModifierIdentity = '') => ({
    workerDeploymentInfo: { routingConfig: { currentDeploymentVersion: { buildId: current } }, lastModifierIdentity },
  });
  const setOn = (described: object): jest.Mock => {
    const set = jest.fn(async () => ({}));
    const service = { describeWorkerDeployment: async () => described, setWorkerDeploymentCurrentVersion: set };
    return Object.assign(set, { done: deploymentOn(service).makeCurrent('b2', () => true) });
  };

  it.each([
    ['another one is', standing('b1'), 1],
    ['it is, in place of one that nobody served', standing('b2', 'holdfast-1 instead of b1'), 1],
    ['it is already', standing('b2'), 0],
  ])('is told to the server where %s', async (_, described, times) => {
    const set = setOn(described) as jest.Mock & { done: Promise<void> };
    await set.done;
    expect(set).toHaveBeenCalledTimes(times);
  });

  it.each([
    ['b1', 'New runs go to build b1 now'],
    [undefined, 'No build is current now'],
  ])('is told to a person, and not to the server, where somebody else decides that: %s', async (current, now) => {
    const { workerDeploymentInfo } = standing(current);
    const set = setOn({ workerDeploymentInfo: { ...workerDeploymentInfo, managerIdentity: 'controller' } }) as jest.Mock & {
      done: unknown;
    };
    expect(await set.done).toMatchObject({ code: 'build-managed', message: expect.stringContaining(`"controller" decides`) });
    expect(await set.done).toMatchObject({ message: expect.stringContaining(now) });
    expect(set).not.toHaveBeenCalled();
  });

  it('is refused with the reason that the server does not give: the namespace has no room for its task queue', async () => {
    const deployment = deploymentOn({
      describeWorkerDeployment: () => Promise.reject(notFound),
      setWorkerDeploymentCurrentVersion: () => Promise.reject(refused),
    });
    await expect(deployment.makeCurrent('b1', () => true)).rejects.toMatchObject(
      errorSaying(
        'server-unreachable',
        /does not take build b1 as the current one: .*Each task queue is one, and a namespace has room for 100/,
      ),
    );
  });
});
