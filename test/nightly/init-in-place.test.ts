import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Command } from '../product/command';
import { commandsIn } from '../product/command';
import { run } from '../product/package-bed';

const root = resolve(__dirname, '..', '..');
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-init-')));
const project = join(folder, 'demo');

/** What an installation would bring, without one. */
function install(): void {
  const packages: Readonly<Record<string, string>> = {
    holdfast: root,
    ...Object.fromEntries(['zod', 'jiti', 'typescript', '@types/node', '.bin/tsc'].map((name) => [name, join(root, 'node_modules', name)])),
  };
  for (const [name, target] of Object.entries(packages)) {
    const place = join(project, 'node_modules', name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(target, place);
  }
}

describe('a project that holdfast init has made', () => {
  let dev: Command | undefined;
  afterAll(async () => {
    dev?.process.kill('SIGKILL');
    await dev?.ended;
    rmSync(folder, { recursive: true, force: true });
  });

  it('passes its tests, types included', async () => {
    const made = await commandsIn(folder)(['init', 'demo']).ended;
    expect(made).toMatchObject({ code: 0, error: '' });
    expect(made.out).toContain('cd demo && npm install');
    install();
    const { stdout } = await run('npm', ['test'], { cwd: project });
    expect(stdout).toMatch(/pass 3\n.*fail 0/);
  }, 150_000);

  it('is refused a second time, and stays as it was', async () => {
    const again = await commandsIn(folder)(['init', 'demo']).ended;
    expect(again).toMatchObject({ code: 1, out: '', error: expect.stringContaining('file-exists') });
    expect(again.error).toContain('fix: Name a new or an empty folder');
  });

  it('does with the demo model what `holdfast dev` proposes', async () => {
    const holdfast = commandsIn(project);
    dev = holdfast(['dev', '--port', '0']);
    expect(await dev.seen('Try:')).toContain('demo/rules');
    const started = await holdfast(['run', 'support', 'Refund order 42, it arrived broken', '--id', 'ticket-981']).ended;
    expect(started).toMatchObject({ code: 2, out: expect.stringContaining('? refund needs an approval') });
    const approved = await holdfast(['approve', 'ticket-981', '--by', 'ada']).ended;
    expect(approved).toMatchObject({ code: 0, out: expect.stringContaining('"reference":"default/ticket-981/') });
    dev.process.kill('SIGTERM');
    expect(await dev.ended).toMatchObject({ code: 0 });
  }, 150_000);
});
