import { connect } from '../../../client/connect';
import { HoldfastWorker } from '../../../worker/create-worker';
import { fixtureAgents, testDirectory } from '../../support/test-bed';

const nowhere = '127.0.0.1:9';

it.each([
  ['a client', () => connect({ address: nowhere })],
  [
    'a worker',
    () =>
      HoldfastWorker.create({
        server: { address: nowhere, namespace: 'default' },
        agents: fixtureAgents,
        tools: {},
        bundles: testDirectory(),
      }),
  ],
])('%s tells within 15 s that there is no server', async (_, open: () => Promise<unknown>) => {
  const began = Date.now();
  await expect(open()).rejects.toMatchObject({ code: 'server-unreachable' });
  expect(Date.now() - began).toBeLessThan(15_000);
});
