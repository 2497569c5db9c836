import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding } from '../../cli/doctor/finding';
import type { Command } from '../product/command';
import { ownCommands } from '../product/command';
import { exampleConfig } from '../product/service-bed';

const { directory: folder, start: holdfast } = ownCommands('doctor');
let server: Command;

async function examined(...args: readonly string[]): Promise<readonly string[]> {
  const { out, code } = await holdfast(['doctor', '--json', ...args], { HOLDFAST_PORT: '0' }).ended;
  const findings = JSON.parse(out) as readonly Finding[];
  expect(code).toBe(findings.some(({ status }) => status === 'problem') ? 1 : 0);
  return findings.map(({ check, status, code: found }) => [check, status, found].filter(Boolean).join(' '));
}

describe('holdfast server', () => {
  it('says when it is ready, and keeps its data in a directory', async () => {
    server = holdfast(['server']);
    const said = await server.seen('data');
    expect(said).toContain('The Temporal server is ready.');
    expect(said).toMatch(/address {3}127\.0\.0\.1:\d+ \(namespace default\)/);
    expect(said).toContain(folder);
  }, 150_000);

  it('is refused beside itself, also where a link leads to its directory, and says whose it is', async () => {
    const link = `${folder}-link`;
    symlinkSync(folder, link);
    for (const directory of [folder, link]) {
      const { code, error } = await holdfast(['server', '--directory', directory]).ended;
      expect(code).toBe(1);
      expect(error).toContain(`server-locked: The process ${server.process.pid} already runs the server of ${folder}`);
    }
    rmSync(link);
  });

  it('is refused on a port that is taken', async () => {
    const [, port = ''] = /127\.0\.0\.1:(\d+)/.exec(await server.seen('address')) ?? [];
    const { code, error } = await holdfast(['server', '--port', port, '--directory', join(folder, 'other')]).ended;
    expect(code).toBe(1);
    expect(error).toContain(`port-in-use: The port ${port} of 127.0.0.1 is taken by another process.`);
  });
});

describe('holdfast doctor', () => {
  const healthy = [
    'node ok',
    'packages ok',
    'environment ok',
    'configuration ok',
    'build ok',
    'models warning model-key-missing',
    'patterns ok',
  ];

  it('finds no problem in a project whose server runs', async () => {
    expect(await examined('--config', exampleConfig)).toEqual([
      ...healthy,
      'directory ok',
      'port ok',
      'server ok',
      'namespace ok',
      'retention ok',
      'clock ok',
    ]);
  }, 150_000);

  it('finds what keeps agents from being bundled', async () => {
    const agent = `export const a = defineAgent({ name: 'a', description: 'A.', instructions: '', model: 'default', tools: [] });`;
    writeFileSync(
      join(folder, 'agents.ts'),
      `import { defineAgent } from 'holdfast/workflow';\nimport { readFileSync } from 'node:fs';\n${agent}\nexport const read = readFileSync;`,
    );
    writeFileSync(join(folder, 'holdfast.config.ts'), `export default { agents: './agents.ts' };`);
    expect((await examined()).slice(3, 5)).toEqual(['configuration ok', 'build problem agents-invalid']);
  }, 150_000);

  it('finds a namespace that is not there', async () => {
    const { out } = await holdfast(['doctor', '--json', '--config', exampleConfig], {
      HOLDFAST_PORT: '0',
      TEMPORAL_ADDRESS: await address(),
      TEMPORAL_NAMESPACE: 'nowhere',
    }).ended;
    expect((JSON.parse(out) as readonly Finding[]).at(-1)).toMatchObject({
      check: 'namespace',
      status: 'problem',
      message: expect.stringContaining("no namespace 'nowhere'"),
    });
  }, 150_000);

  it('finds that the server has ended, which stops on a signal', async () => {
    server.process.kill('SIGTERM');
    expect(await server.ended).toMatchObject({ code: 0, out: expect.stringContaining('Stopping.') });
    expect((await examined('--config', exampleConfig)).slice(healthy.length + 2)).toEqual(['server ok']);
  }, 150_000);
});

async function address(): Promise<string> {
  return /127\.0\.0\.1:\d+/.exec(await server.seen('address'))?.[0] ?? '';
}
