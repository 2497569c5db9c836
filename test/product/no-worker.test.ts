import { resolve } from 'node:path';
import { ServiceClient } from '../../client/http/index';
import { ownCommands } from './command';

const { start } = ownCommands('no-worker');
const config = ['--config', resolve(__dirname, '../../examples/support/holdfast.config.ts')];

const begun = (args: readonly string[], until: string): Promise<string> => start(args).seen(until);

it('a service or a worker alone without Redis says so at its start, and a run without a worker in run, show, list and over HTTP', async () => {
  await begun(['server'], 'The Temporal server is ready.');
  const said = await begun(['serve', '--port', '0', ...config], 'agents ');
  const notShown = 'of other processes are not shown: services and workers share no HOLDFAST_REDIS_URL';
  expect(said).toContain(notShown);
  const none = 'No worker polls the task queue "holdfast"';
  await begun(['run', 'support', 'Where is order 42?', '--id', 'alone'], none);
  expect((await start(['show', 'alone']).ended).out).toContain(none);
  expect((await start(['list']).ended).out).toContain(none);
  const service = new ServiceClient(/service\s+(http\S+)/.exec(said)?.[1] ?? '');
  expect((await service.view('alone')).noWorker).toEqual({ taskQueue: 'holdfast' });
  expect((await service.list()).noWorker).toEqual({ taskQueue: 'holdfast' });
  expect(await begun(['worker', ...config], 'agents ')).toContain(notShown);
});
