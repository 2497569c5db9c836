import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { acquireFileLock } from '../../host/server/file-lock';
import { temporaryDirectory } from './temporary-directory';

describe('a file lock', () => {
  it('is held by one at a time, also when all of them find a stale one first', async () => {
    const path = join(temporaryDirectory(), 'lock');
    const dead = Number(execFileSync('/bin/sh', ['-c', 'echo $$'], { encoding: 'utf8' }));
    writeFileSync(path, JSON.stringify({ pid: dead, host: hostname(), token: 'old' }));
    let holders = 0;
    let most = 0;
    const takeTurn = async () => {
      const lock = await acquireFileLock(path, { waitMs: 10_000 });
      most = Math.max(most, ++holders);
      await new Promise((resolve) => setImmediate(resolve));
      holders--;
      lock.release();
    };
    await Promise.all(Array.from({ length: 12 }, takeTurn));
    expect(most).toBe(1);
    expect(readdirSync(join(path, '..'))).toEqual([]);
  });

  it('is not held by a process that has ended, also when nobody asks how it ended', async () => {
    const path = join(temporaryDirectory(), 'lock');
    // The shell becomes a program that knows nothing of the child that it has.
    const parent = spawn('/bin/sh', ['-c', 'sleep 0 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    writeFileSync(path, JSON.stringify({ pid: Number(String(line)), host: hostname(), token: 'old' }));
    const lock = await acquireFileLock(path, { waitMs: 10_000 });
    lock.release();
    parent.kill();
  });

  it('tells who holds it, and gives up with server-locked', async () => {
    const path = join(temporaryDirectory(), 'lock');
    const held = await acquireFileLock(path, { waitMs: 0 });
    const waitedFor: number[] = [];
    await expect(acquireFileLock(path, { waitMs: 100, onWait: (pid) => waitedFor.push(pid) })).rejects.toMatchObject({
      code: 'server-locked',
      message: expect.stringContaining(path),
    });
    expect(waitedFor).toEqual([process.pid]);
    held.release();
    (await acquireFileLock(path, { waitMs: 0 })).release();
  });
});
