import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../host/server/free-port';
import { pack, ready, run } from '../product/package-bed';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-init-')));
const project = join(folder, 'demo');
const quiet = ['--no-audit', '--no-fund', '--prefer-offline'];

describe('the packed package makes a project', () => {
  const keys = /_API_KEY$|^TEMPORAL_|^HOLDFAST_(?!TEMPORAL_CLI$)|^OPENAI_COMPATIBLE_|^npm_/;
  const environment = { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !keys.test(name))), NO_COLOR: '1' };
  let service: ChildProcess | undefined;
  afterAll(async () => {
    if (service?.pid !== undefined) {
      const closed = once(service, 'close');
      process.kill(-service.pid, 'SIGTERM');
      await closed;
    }
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  it('that installs, passes its tests and runs', async () => {
    const packed = await pack(folder);
    const made = await run('npx', ['--yes', ...quiet, '--package', packed, 'holdfast', 'init', 'demo'], { cwd: folder, env: environment });
    expect(made.stdout).toContain('cd demo && npm install');
    await run('npm', ['install', ...quiet], { cwd: project, env: environment });
    const { name, dependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as {
      name: string;
      dependencies: Record<string, string>;
    };
    expect({ name, zod: dependencies['zod'] }).toEqual({ name: 'demo', zod: '4.6.7' });
    const tested = await run('npm', ['test'], { cwd: project, env: environment });
    expect(tested.stdout).toMatch(/pass 3\n.*fail 0/);
    const port = await freePort();
    service = spawn('npm', ['start', '--', '--port', String(port)], {
      cwd: project,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    await ready(service, `http://127.0.0.1:${port}`);
    const started = await run('npx', ['holdfast', 'run', 'support', 'How is order 43?', '--id', 'first'], {
      cwd: project,
      env: environment,
    });
    expect(started.stdout).toContain('{"orderId":"43","item":"Tea","total":12}');
  }, 400_000);
});
