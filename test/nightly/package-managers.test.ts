import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../host/server/free-port';
import { client, filesOfGuide, pack, ready, run } from '../product/package-bed';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-managers-')));
const tool = (name: string, ...path: readonly string[]): string => join(folder, 'tools', 'node_modules', name, ...path);

/** Yarn requests the packages of all platforms, and a registry may lack the newest. */
const resolutions = { '@swc/core': '1.16.18' };

const managers: readonly { readonly name: string; readonly program: () => string; readonly add: (packed: string) => readonly string[] }[] =
  [
    { name: 'pnpm', program: () => tool('pnpm', 'bin', 'pnpm.cjs'), add: (packed) => ['add', '--prefer-offline', packed] },
    {
      name: 'Yarn',
      program: () => tool('yarn', 'bin', 'yarn.js'),
      add: (packed) => ['add', '--prefer-offline', '--non-interactive', packed],
    },
  ];

describe('[check 0] the packed package', () => {
  let packed: string;
  const services: ChildProcess[] = [];
  beforeAll(async () => {
    mkdirSync(join(folder, 'tools'), { recursive: true });
    const install = [
      'install',
      '--no-audit',
      '--no-fund',
      '--prefer-offline',
      '--prefix',
      join(folder, 'tools'),
      'pnpm@10.34.8',
      'yarn@1.22.22',
    ];
    [packed] = await Promise.all([pack(folder), run('npm', install)]);
  }, 120_000);
  afterAll(async () => {
    for (const service of services.filter(({ exitCode }) => exitCode === null)) {
      const ended = once(service, 'exit');
      service.kill('SIGTERM');
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  it.concurrent.each(managers)(
    'installed with $name runs the example of the guide',
    async ({ name, program, add }) => {
      const project = join(folder, name);
      mkdirSync(project);
      writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'my-agents', private: true, resolutions }));
      for (const [file, code] of Object.entries(filesOfGuide())) writeFileSync(join(project, file), code);
      await run(process.execPath, [program(), ...add(packed), 'zod@4.6.7', ...client.packages], { cwd: project });
      const environment = { ...process.env, HOLDFAST_DIR: join(project, '.holdfast'), NO_COLOR: '1' };
      const port = await freePort();
      const args = ['dev', '--port', String(port)];
      const service = spawn(join(project, 'node_modules', '.bin', 'holdfast'), args, {
        cwd: project,
        env: environment,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      services.push(service);
      await ready(service, `http://127.0.0.1:${port}`);
      const [command, ...rest] = client.command;
      const { stdout } = await run(command, rest, { cwd: project, env: environment, timeout: 60_000 });
      expect(stdout).toContain('interrupt-start');
      expect(stdout).toContain('Done.');
    },
    180_000,
  );
});
