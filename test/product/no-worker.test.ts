import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ServiceClient } from '../../http/index';
import type { Command } from './command';
import { commandsIn } from './command';

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-no-worker-')));
const start = commandsIn(directory);
const config = ['--config', resolve(__dirname, '../../examples/support/holdfast.config.ts')];
const commands: Command[] = [];
afterAll(async () => {
  for (const { process, ended } of commands.reverse()) {
    process.kill('SIGKILL');
    await ended;
  }
  rmSync(directory, { recursive: true, force: true });
});

async function begun(args: readonly string[], until: string): Promise<string> {
  const command = start(args);
  commands.push(command);
  return command.seen(until);
}

it('a run without a worker says so in run, show, list and over HTTP', async () => {
  await begun(['server'], 'The Temporal server is ready.');
  const said = await begun(['serve', '--port', '0', ...config], 'agents ');
  const none = 'No worker polls the task queue "holdfast"';
  await begun(['run', 'support', 'Where is order 42?', '--id', 'alone'], none);
  expect((await start(['show', 'alone']).ended).out).toContain(none);
  expect((await start(['list']).ended).out).toContain(none);
  const service = new ServiceClient(/service\s+(http\S+)/.exec(said)?.[1] ?? '');
  expect((await service.view('alone')).noWorker).toEqual({ taskQueue: 'holdfast' });
  expect((await service.list()).noWorker).toEqual({ taskQueue: 'holdfast' });
});
