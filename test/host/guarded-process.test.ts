import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { startGuarded, type GuardedProcess } from '../../host/server/guarded-process';
import { isAlive } from '../../host/server/process-probe';
import { processesOfSession, untilGone } from './owner-process';
import { temporaryDirectory } from './temporary-directory';

const root = resolve(__dirname, '..', '..');
const owners: ChildProcess[] = [];
const guarded: GuardedProcess[] = [];
afterEach(async () => {
  for (const owner of owners.splice(0)) owner.kill('SIGKILL');
  await Promise.all(guarded.splice(0).map((one) => one.kill()));
});

type Options = Parameters<typeof startGuarded>[2];

const polite = (word: string): string => `trap 'echo ended >> "${word}"; exit' TERM; ${goesOn}`;
const goesOn = 'echo > "$READY"; while :; do sleep 0.05; done';
const deaf = `trap '' TERM; ${goesOn}`;

const logged = (more: Partial<Options> = {}): Options & { readonly ready: string } => {
  const directory = temporaryDirectory();
  const ready = join(directory, 'ready');
  const { environment = process.env } = more;
  return { logFile: join(directory, 'log'), ...more, environment: { ...environment, READY: ready }, ready };
};

/** A signal before the shell's trap would end the shell. */
async function untilReady({ ready }: { readonly ready: string }): Promise<void> {
  while (!existsSync(ready)) await sleep(10);
}

async function start(command: string, more: Partial<Options> = {}): Promise<GuardedProcess> {
  const { ready, ...options } = logged(more);
  const one = await startGuarded('/bin/sh', ['-c', command], options);
  guarded.push(one);
  await untilReady({ ready });
  return one;
}

async function owned(command: string): Promise<{ readonly pid: number; murder(): Promise<void> }> {
  const loader = join(root, 'node_modules', 'jiti', 'lib', 'jiti-cli.mjs');
  const { ready, ...options } = logged();
  const asked = JSON.stringify({ command, options });
  const owner = spawn(process.execPath, [loader, join(__dirname, 'guard-owner.ts'), asked], { stdio: ['ignore', 'pipe', 'inherit'] });
  owners.push(owner);
  const [line] = (await once(createInterface(owner.stdout), 'line')) as [string];
  await untilReady({ ready });
  return {
    pid: Number(line),
    murder: async () => {
      owner.kill('SIGKILL');
      await once(owner, 'exit');
    },
  };
}

describe('a guarded process', () => {
  it('lives as long as its owner, though nobody holds what it was started with', async () => {
    const started = await Promise.all([1, 2, 3].map(() => startGuarded('/bin/sh', ['-c', deaf], { ...logged() })));
    const pids = started.splice(0).map(({ pid }) => pid);
    try {
      setFlagsFromString('--expose-gc');
      const collect = runInNewContext('gc') as () => void;
      for (let round = 0; round < 10; round++) {
        collect();
        await sleep(10);
      }
      await sleep(200);
      expect(pids.filter((pid) => !isAlive(pid))).toEqual([]);
    } finally {
      for (const pid of pids) process.kill(pid, 'SIGKILL');
    }
  });

  it('dies with its own owner, and with no other', async () => {
    const all = await Promise.all(['a', 'b', 'c', 'd'].map(() => owned(deaf)));
    const [here, ...others] = [await start(deaf), ...all];
    const dead = others.slice(0, 2);
    await Promise.all(dead.map((one) => one.murder()));
    await Promise.all(dead.map(({ pid }) => untilGone(pid)));
    await sleep(300);
    expect([here, ...others.slice(2)].map(({ pid }) => isAlive(pid))).toEqual([true, true, true]);
  });

  it('is not asked to end when its owner is killed: it is killed, too', async () => {
    const word = join(temporaryDirectory(), 'word');
    const { pid, murder } = await owned(polite(word));
    await murder();
    await untilGone(pid);
    expect(existsSync(word)).toBe(false);
  });

  it('is asked to end by an owner that lives', async () => {
    const word = join(temporaryDirectory(), 'word');
    const one = await start(polite(word));
    await one.stop();
    expect(readFileSync(word, 'utf8')).toBe('ended\n');
    expect(isAlive(one.pid)).toBe(false);
  });

  it('that does not end is killed after a while', async () => {
    const one = await start(deaf);
    expect(await one.stop()).toBe(137);
  });

  it('has no guard as soon as it has ended, because its id may be that of another one from then on', async () => {
    const one = await start('echo > "$READY"; exec sleep 60');
    const family = processesOfSession(one.pid);
    expect(family).toHaveLength(2);
    process.kill(one.pid, 'SIGKILL');
    await one.exited;
    await Promise.all(family.map((pid) => untilGone(pid)));
  });

  it('says how its command ended', async () => {
    const { ready: _, ...options } = logged();
    const one = await startGuarded('/bin/sh', ['-c', 'exit 7'], options);
    expect(await one.exited).toBe(7);
    const missing = await startGuarded('/nowhere/command', [], options);
    expect(await missing.exited).toBe(127);
    expect(readFileSync(options.logFile, 'utf8')).toContain('/nowhere/command');
  });
});
