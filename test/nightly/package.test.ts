import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../host/server/free-port';
import { client, filesOfGuide, loader, pack, ready, run, tsconfigOfGuide } from '../product/package-bed';

describe('the packed package in an empty project', () => {
  const project = mkdtempSync(join(tmpdir(), 'holdfast-package-'));
  const environment = { ...process.env, HOLDFAST_DIR: join(project, '.holdfast'), NO_COLOR: '1' };
  let service: ChildProcess | undefined;

  const node = async (file: string, code: string): Promise<string> => {
    writeFileSync(join(project, file), code);
    const { stdout } = await run('node', [file], { cwd: project, env: environment });
    return stdout.trim();
  };

  beforeAll(async () => {
    writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'my-agents', private: true }));
    const installed = process.env['HOLDFAST_TEST_INSTALLED'];
    if (installed !== undefined && existsSync(join(installed, 'node_modules'))) {
      cpSync(join(installed, 'node_modules'), join(project, 'node_modules'), { recursive: true, verbatimSymlinks: true });
      return;
    }
    const packed = await pack(project);
    const packages = [packed, 'zod@4.6.7', 'typescript@5.9.3', '@types/node@20.19.43'];
    const more = installed === undefined ? client.packages : [loader];
    await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...packages, ...more], { cwd: project });
    if (installed !== undefined)
      cpSync(join(project, 'node_modules'), join(installed, 'node_modules'), { recursive: true, verbatimSymlinks: true });
  }, 240_000);

  afterAll(async () => {
    if (service !== undefined && service.exitCode === null) {
      const ended = once(service, 'exit');
      service.kill('SIGTERM');
      await ended;
    }
    rmSync(project, { recursive: true, force: true });
  }, 60_000);

  const doors = [
    'holdfast',
    'holdfast/workflow',
    'holdfast/middleware',
    'holdfast/callbacks',
    'holdfast/eino',
    'holdfast/worker',
    'holdfast/client',
    'holdfast/service',
    'holdfast/http',
    'holdfast/testing',
  ];
  const names = [
    'defineConfig',
    'agentsFor',
    'approval',
    'callbacks',
    'chatMiddleware',
    'defineTool',
    'connect',
    'startService',
    'ServiceClient',
    'testRun',
  ];

  it('opens every door to CommonJS', async () => {
    const code = doors.map((door, index) => `console.log(typeof require('${door}').${names[index]});`).join('\n');
    expect(await node('doors.cjs', code)).toBe(doors.map(() => 'function').join('\n'));
  });

  it('opens every door to ESM, by name', async () => {
    const code = doors.map((door, index) => `import { ${names[index]} } from '${door}';\nconsole.log(typeof ${names[index]});`).join('\n');
    expect(await node('doors.mjs', code)).toBe(doors.map(() => 'function').join('\n'));
  });

  it('gives both the same objects', async () => {
    expect(
      await node(
        'same.mjs',
        `import { createRequire } from 'node:module';\nimport { connect } from 'holdfast/client';\nconsole.log(createRequire(import.meta.url)('holdfast/client').connect === connect);`,
      ),
    ).toBe('true');
  });

  it('compiles and runs the example of the guide', async () => {
    const files = filesOfGuide();
    expect(Object.keys(files).sort()).toEqual(['agents.ts', 'client.ts', 'holdfast.config.ts', 'tools.ts']);
    for (const [name, code] of Object.entries(files)) writeFileSync(join(project, name), code);
    mkdirSync(join(project, 'types'), { recursive: true });
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ ...tsconfigOfGuide(), files: Object.keys(files) }));
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    service = spawn(join(project, 'node_modules', '.bin', 'holdfast'), ['dev', '--port', String(port)], {
      cwd: project,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const compiled = run('npx', ['--no-install', 'tsc', '-p', '.'], { cwd: project, env: environment }).catch(
      (error: { stdout: string }) => {
        throw new Error(error.stdout);
      },
    );
    await Promise.all([compiled, ready(service, url)]);
    const [program, ...args] = client.command;
    const { stdout } = await run(program, args, { cwd: project, env: environment, timeout: 60_000 });
    expect(stdout).toContain('interrupt-start');
    expect(stdout).toContain('Done.');
  }, 180_000);
});
