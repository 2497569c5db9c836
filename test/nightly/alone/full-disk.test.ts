import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from '../../product/command';
import { commandFile, commandOf } from '../../product/command';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-full-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function project(name: string): string {
  const directory = join(folder, name);
  mkdirSync(join(directory, 'data'), { recursive: true });
  writeFileSync(
    join(directory, 'agents.ts'),
    `import { agentsFor } from 'holdfast/workflow';
const { defineAgent } = agentsFor();
export const helper = defineAgent({ name: 'helper', description: 'Helps.', instructions: '', model: 'test/model', tools: [] });`,
  );
  writeFileSync(
    join(directory, 'holdfast.config.ts'),
    `const generate = async () => ({ parts: [{ type: 'text', text: 'Done.' }], usage: { inputTokens: 1, outputTokens: 1 } });
export default { agents: './agents.ts', tools: {}, models: { providers: { test: { model: () => ({ generate }) } } } };`,
  );
  return directory;
}

async function addressOf(dev: Command): Promise<string> {
  return /service +(http:\S+)/.exec(await dev.seen('Try:'))?.[1] ?? '';
}

function startRun(address: string, id: string): Promise<Response> {
  return fetch(`${address}/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ agent: 'helper', input: 'hello', id }),
  });
}

async function resultOf(address: string, id: string): Promise<unknown> {
  await (await fetch(`${address}/runs/${id}/events`)).text();
  return (await fetch(`${address}/runs/${id}`)).json();
}

const started: Command[] = [];
afterEach(async () => {
  for (const dev of started.splice(0)) {
    dev.process.kill('SIGTERM');
    expect((await dev.ended).code).toBe(0);
  }
});

describe('[check 12] holdfast dev', () => {
  // In a user namespace, any user may mount a disk of 48 MB that only the process and its children see.
  it('refuses runs while the disk is full, and what it took before gets on when there is room', async () => {
    const directory = project('disk');
    const data = join(directory, 'data');
    const program = `mount -t tmpfs -o size=48m tmpfs "$HOLDFAST_DIR" && exec "$0" "$@"`;
    const dev = commandOf(
      spawn('unshare', ['--user', '--map-root-user', '--mount', 'sh', '-c', program, process.execPath, commandFile, 'dev', '--port', '0'], {
        cwd: directory,
        env: { PATH: process.env['PATH'], HOME: process.env['HOME'], HOLDFAST_DIR: data },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
    started.push(dev);
    const address = await addressOf(dev);
    expect((await startRun(address, 'before')).status).toBe(201);
    const disk = join('/proc', String(dev.process.pid), 'root', data);
    const { bavail, bsize } = statfsSync(disk);
    expect(() => writeFileSync(join(disk, 'fill'), Buffer.alloc(bavail * bsize + 1))).toThrow('ENOSPC');
    const taken: string[] = [];
    for (let n = 0; ; n += 1) {
      const started = await startRun(address, `full-${n}`);
      if (started.status === 201) {
        taken.push(`full-${n}`);
        continue;
      }
      expect([507, 503]).toContain(started.status);
      expect(['disk-full', 'server-unreachable']).toContain(((await started.json()) as { error: { code: string } }).error.code);
      break;
    }
    rmSync(join(disk, 'fill'));
    for (const id of [...taken, 'before']) expect(await resultOf(address, id)).toMatchObject({ output: 'Done.' });
    expect((await startRun(address, 'after')).status).toBe(201);
    expect(await resultOf(address, 'after')).toMatchObject({ output: 'Done.' });
  }, 120_000);
});
