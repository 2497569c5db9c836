import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort } from '../../host/server/free-port';
import { ready, run } from '../product/package-bed';

const root = resolve(__dirname, '..', '..');
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-responses-')));
const project = join(folder, 'project');
const clients = join(folder, 'clients');
const keys = /_API_KEY$|^TEMPORAL_|^HOLDFAST_(?!TEMPORAL_CLI$)|^OPENAI_|^npm_/;
const environment = { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !keys.test(name))), NO_COLOR: '1' };

/** The client of OpenAI as its users have it, against `holdfast dev`. */
describe('the client of OpenAI', () => {
  let service: ChildProcess | undefined;
  let url = '';

  beforeAll(async () => {
    for (const at of [project, clients]) mkdirSync(join(at, 'node_modules'), { recursive: true });
    for (const file of ['agents.ts', 'tools.ts', 'holdfast.config.ts'])
      copyFileSync(join(root, 'templates', 'project', file), join(project, file));
    writeFileSync(join(project, 'package.json'), '{ "private": true }');
    symlinkSync(root, join(project, 'node_modules', 'holdfast'));
    symlinkSync(join(root, 'node_modules', 'zod'), join(project, 'node_modules', 'zod'));
    symlinkSync(join(root, 'node_modules', 'openai'), join(clients, 'node_modules', 'openai'));
    for (const file of ['openai-responses.mjs', 'check.mjs']) copyFileSync(join(root, 'test', 'acceptance', file), join(clients, file));
    url = `http://127.0.0.1:${await freePort()}`;
    const command = [join(root, 'dist', 'cli', 'main.js'), 'dev', '--port', new URL(url).port];
    service = spawn(process.execPath, command, { cwd: project, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
    await ready(service, url);
  }, 300_000);

  afterAll(async () => {
    if (service !== undefined && service.exitCode === null && service.signalCode === null) {
      const closed = once(service, 'exit');
      service.kill('SIGTERM');
      await closed;
    }
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  it('creates, streams, approves, waits in the background, leaves and comes back', async () => {
    const { stdout } = await run(process.execPath, ['openai-responses.mjs', url], { cwd: clients, env: environment });
    expect(stdout).not.toMatch(/^FAIL/m);
    expect(stdout).toMatch(/^30 passed, 0 failed$/m);
  }, 120_000);
});
