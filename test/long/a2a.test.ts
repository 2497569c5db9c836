import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort } from '../../host/server/free-port';
import { ready, run } from '../product/package-bed';
import { eventually } from '../product/service-bed';
import { a2aClient, saying, stateOf, told } from '../support/a2a-bed';

const root = resolve(__dirname, '..', '..');
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-a2a-')));
const project = join(folder, 'project');
const clients = join(folder, 'clients');
const keys = /_API_KEY$|^TEMPORAL_|^HOLDFAST_(?!TEMPORAL_CLI$)|^OPENAI_COMPATIBLE_|^npm_/;
const environment = { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !keys.test(name))), NO_COLOR: '1' };

/** The client of A2A as its users have it, against `holdfast dev`. */
describe('the client of A2A', () => {
  let service: ChildProcess | undefined;
  let port = 0;
  let url = '';

  const serve = async (): Promise<void> => {
    const command = [join(root, 'dist', 'cli', 'main.js'), 'dev', '--port', String(port)];
    service = spawn(process.execPath, command, { cwd: project, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
    await ready(service, url);
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (service === undefined || service.exitCode !== null || service.signalCode !== null) return;
    const closed = once(service, 'exit');
    service.kill(signal);
    await closed;
  };

  beforeAll(async () => {
    mkdirSync(join(project, 'node_modules'), { recursive: true });
    mkdirSync(join(clients, 'node_modules', '@a2a-js'), { recursive: true });
    for (const file of ['agents.ts', 'tools.ts', 'holdfast.config.ts'])
      copyFileSync(join(root, 'templates', 'project', file), join(project, file));
    writeFileSync(join(project, 'package.json'), '{ "private": true }');
    symlinkSync(root, join(project, 'node_modules', 'holdfast'));
    symlinkSync(join(root, 'node_modules', 'zod'), join(project, 'node_modules', 'zod'));
    symlinkSync(join(root, 'node_modules', '@a2a-js', 'sdk'), join(clients, 'node_modules', '@a2a-js', 'sdk'));
    for (const file of ['a2a.mjs', 'check.mjs']) copyFileSync(join(root, 'test', 'acceptance', file), join(clients, file));
    port = await freePort();
    url = `http://127.0.0.1:${port}`;
    await serve();
  }, 300_000);

  afterAll(async () => {
    await end('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  it('does what the guide says', async () => {
    const guide = readFileSync(join(root, 'docs', 'guides', 'a2a.md'), 'utf8');
    const [, example = ''] = /```js\n([^]*?)```/.exec(guide) ?? [];
    writeFileSync(join(clients, 'refund.mjs'), example.replace('http://127.0.0.1:4747', url));
    const { stdout } = await run(process.execPath, ['refund.mjs'], { cwd: clients, env: environment });
    expect(stdout).toMatch(/^May refund be called\? .*"amount":80.*\nDone\. /);
  }, 60_000);

  it('sends, streams, answers, cancels, lists, leaves and comes back; only push notifications are refused', async () => {
    const failed = run(process.execPath, ['a2a.mjs', url], { cwd: clients, env: environment }).catch((error: unknown) => error);
    const { stdout } = (await failed) as { readonly stdout: string };
    expect(stdout.split('\n').filter((line) => line.startsWith('FAIL'))).toEqual([expect.stringMatching(/^FAIL push: .*NotSupported/)]);
    expect(stdout).toMatch(/^29 passed, 1 failed$/m);
  }, 120_000);

  it('finds a task again whose service was killed while it streamed, and answers it', async () => {
    const client = await a2aClient(fetch, `${url}/a2a/support/`);
    const context = { contextId: 'killed' };
    const stream = client.sendMessageStream(saying('Refund order 42, it arrived broken', context));
    const { value: first } = await stream.next();
    const id = first?.payload?.$case === 'task' ? first.payload.value.id : '';
    await end('SIGKILL');
    await expect(told(stream)).rejects.toThrow();
    await serve();
    const asking = await eventually(async () => {
      const task = await client.getTask({ tenant: '', id });
      return stateOf(task) === 'INPUT_REQUIRED' ? task : undefined;
    });
    const done = await client.sendMessage(saying('yes', { ...context, taskId: asking.id }));
    expect('status' in done ? stateOf(done) : '').toBe('COMPLETED');
  }, 120_000);
});
