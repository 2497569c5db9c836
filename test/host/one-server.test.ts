import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeUsable } from '../../cli/processes/usable-directory';
import { recordService } from '../../cli/processes/service-record';
import { startEmbeddedServer } from '../../host/server/embedded-server';
import { serverFailure } from '../../host/server/server-log';
import { isAlive } from '../../host/server/process-probe';
import { BundleStore } from '../../worker/bundle/bundle-store';
import { processesOfSession, startOwner, untilGone } from '../host/owner-process';
import { temporaryDirectory } from '../host/temporary-directory';

jest.setTimeout(90_000);

function killGuard(serverPid: number): void {
  for (const pid of processesOfSession(serverPid)) if (pid !== serverPid) process.kill(pid, 'SIGKILL');
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

describe('[check 13] one server opens a database', () => {
  it.concurrent('one that has outlived its owner is not taken, and whoever needs the directory is told what to end', async () => {
    const directory = temporaryDirectory();
    const owner = await startOwner({ directory });
    killGuard(owner.server.pid);
    await owner.murder();
    await expect(startEmbeddedServer({ directory })).rejects.toMatchObject({
      code: 'server-locked',
      message: expect.stringContaining(`kill ${owner.server.pid}`) as string,
    });
    process.kill(owner.server.pid, 'SIGTERM');
    const next = await startEmbeddedServer({ directory });
    expect(next.reused).toBe(false);
    await next.stop();
  });

  it.concurrent('the end of the guard alone changes nothing for the owner', async () => {
    const directory = temporaryDirectory();
    const owner = await startOwner({ directory });
    killGuard(owner.server.pid);
    await owner.finish();
    await untilGone(owner.server.pid, 0);
    expect(existsSync(join(directory, 'server.json'))).toBe(false);
  });

  it.concurrent('a server whose record is gone keeps the database to itself', async () => {
    const directory = temporaryDirectory();
    const owner = await startOwner({ directory });
    rmSync(join(directory, 'server.json'));
    const said: string[] = [];
    let told: () => void = () => undefined;
    const waits = new Promise<void>((resolve) => (told = resolve));
    const next = startEmbeddedServer({ directory, onProgress: (message) => (said.push(message), told()) });
    await waits;
    expect(said.join()).toContain(`Another process has ${owner.server.database} open`);
    expect(isAlive(owner.server.pid)).toBe(true);
    await owner.finish();
    expect((await next).reused).toBe(false);
    await (await next).stop();
  });
});

describe('[check 13] what Holdfast keeps', () => {
  it.concurrent('is for its owner alone: the database, its log, its record', async () => {
    const directory = join(temporaryDirectory(), 'new');
    makeUsable(directory);
    const server = await startEmbeddedServer({ directory });
    recordService(directory, 'http://127.0.0.1:1');
    await new BundleStore(join(directory, 'bundles')).save({ buildId: '0123456789abcdef', code: 'x' });
    const names = readdirSync(directory);
    expect(names).toEqual(expect.arrayContaining(['server.json', 'server.log', 'bundles', `service-${process.pid}.json`]));
    expect(names.some((name) => name.endsWith('.db-wal'))).toBe(true);
    for (const name of names) expect([name, modeOf(join(directory, name))]).toEqual([name, name === 'bundles' ? '700' : '600']);
    expect(modeOf(directory)).toBe('700');
    expect(modeOf(join(directory, 'bundles', '0123456789abcdef.js'))).toBe('600');
    await server.stop();
  });

  it('becomes so where it was open for others', () => {
    const directory = join(temporaryDirectory(), 'old');
    mkdirSync(join(directory, 'bundles'), { recursive: true });
    mkdirSync(join(directory, 'snapshots'));
    const files = ['runs-1.29.1.db', 'runs-1.29.1.db-wal', 'server.log', 'bundles/0123456789abcdef.js', `snapshots/${'a'.repeat(64)}`];
    for (const file of files) {
      writeFileSync(join(directory, file), '');
      chmodSync(join(directory, file), 0o644);
    }
    for (const folder of ['', 'bundles', 'snapshots']) chmodSync(join(directory, folder), 0o755);
    makeUsable(directory);
    for (const file of files) expect([file, modeOf(join(directory, file))]).toEqual([file, '600']);
    for (const folder of ['', 'bundles', 'snapshots']) expect([folder, modeOf(join(directory, folder))]).toEqual([folder, '700']);
  });

  it('leaves what is not its own as it is', () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'mine.txt'), '');
    writeFileSync(join(directory, 'server.log'), '');
    for (const [path, mode] of [
      ['', 0o755],
      ['mine.txt', 0o644],
      ['server.log', 0o644],
    ] as const)
      chmodSync(join(directory, path), mode);
    makeUsable(directory);
    expect(['', 'mine.txt', 'server.log'].map((path) => modeOf(join(directory, path)))).toEqual(['755', '644', '600']);
  });
});

describe('[check 12] a server that fails', () => {
  it('is told with the end of its log', () => {
    const log = join(temporaryDirectory(), 'some.log');
    writeFileSync(log, 'panic: database or disk is full (13)\n');
    expect(serverFailure('It ended.', log)).toMatchObject({
      code: 'disk-full',
      message: `It ended. Its log ends: panic: database or disk is full (13)`,
    });
  });
});

describe('[check 12] a full disk', () => {
  // On Linux, every write to the device finds the disk full.
  it('is named at the start', () => {
    if (!existsSync('/dev/full')) return;
    const directory = temporaryDirectory();
    symlinkSync('/dev/full', join(directory, 'server.probe'));
    expect(() => makeUsable(directory)).toThrow(
      expect.objectContaining({ code: 'disk-full', message: expect.stringContaining(directory) as string }) as Error,
    );
  });
});
