import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort } from '../../host/server/free-port';
import { ready, run } from '../product/package-bed';

const root = resolve(__dirname, '..', '..');
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-agui-')));
const project = join(folder, 'project');
const clients = join(folder, 'clients');
const keys = /_API_KEY$|^TEMPORAL_|^HOLDFAST_(?!TEMPORAL_CLI$)|^OPENAI_COMPATIBLE_|^npm_/;
const environment = { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !keys.test(name))), NO_COLOR: '1' };

/** The clients of AG-UI as their users have them, against `holdfast dev`. */
describe('the clients of AG-UI', () => {
  let service: ChildProcess | undefined;
  let port = 0;

  const serve = async (): Promise<void> => {
    const command = [join(root, 'dist', 'cli', 'main.js'), 'dev', '--port', String(port)];
    service = spawn(process.execPath, command, { cwd: project, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
    await ready(service, `http://127.0.0.1:${port}`);
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (service === undefined || service.exitCode !== null || service.signalCode !== null) return;
    const closed = once(service, 'exit');
    service.kill(signal);
    await closed;
  };
  const script = (name: string, ...more: readonly string[]) =>
    run(process.execPath, [name, `http://127.0.0.1:${port}`, ...more], { cwd: clients, env: environment });

  beforeAll(async () => {
    mkdirSync(join(project, 'node_modules'), { recursive: true });
    mkdirSync(clients);
    for (const file of ['agents.ts', 'tools.ts', 'holdfast.config.ts'])
      copyFileSync(join(root, 'templates', 'project', file), join(project, file));
    writeFileSync(join(project, 'package.json'), '{ "private": true }');
    symlinkSync(root, join(project, 'node_modules', 'holdfast'));
    symlinkSync(join(root, 'node_modules', 'zod'), join(project, 'node_modules', 'zod'));
    for (const file of ['agui.mjs', 'agui-kill.mjs', 'check.mjs', 'package.json'])
      copyFileSync(join(root, 'test', 'acceptance', file), join(clients, file));
    await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline'], { cwd: clients, env: environment });
    port = await freePort();
    await serve();
  }, 300_000);

  afterAll(async () => {
    await end('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  it('run, stream, interrupt, resume, reload, leave and come back', async () => {
    const { stdout } = await script('agui.mjs');
    expect(stdout).not.toMatch(/^FAIL/m);
    expect(stdout).toMatch(/^34 passed, 0 failed$/m);
  }, 120_000);

  it('come back to a thread whose service was killed in the middle of a stream', async () => {
    const client = spawn(process.execPath, ['agui-kill.mjs', `http://127.0.0.1:${port}`], { cwd: clients, env: environment });
    let said = '';
    client.stdout.setEncoding('utf8');
    const closed = once(client, 'close');
    for await (const piece of client.stdout as AsyncIterable<string>) {
      const before = said;
      said += piece;
      if (before.includes('KILL') || !said.includes('KILL')) continue;
      await end('SIGKILL');
      await serve();
    }
    await closed;
    expect(said).not.toMatch(/^FAIL/m);
    expect(said).toMatch(/^5 passed, 0 failed$/m);
  }, 120_000);
});
