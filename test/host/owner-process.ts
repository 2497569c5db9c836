import { execFileSync, spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EmbeddedServer, EmbeddedServerOptions } from '../../host/server/embedded-server';
import { isAlive } from '../../host/server/process-probe';

export interface Owner {
  readonly process: ChildProcess;
  readonly server: Omit<EmbeddedServer, 'stop'> & { readonly failed?: string };
  finish(): Promise<void>;
  murder(): Promise<void>;
}

const root = join(__dirname, '..', '..');
const owners: ChildProcess[] = [];

type OwnerOptions = Omit<EmbeddedServerOptions, 'onProgress' | 'onExit'>;

export function beginOwner(options: OwnerOptions): ChildProcessByStdio<Writable, Readable, null> {
  const loader = join(root, 'node_modules', 'jiti', 'lib', 'jiti-cli.mjs');
  const child = spawn(process.execPath, [loader, join(__dirname, 'server-owner.ts'), JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  owners.push(child);
  return child;
}

export async function startOwner(options: OwnerOptions): Promise<Owner> {
  const child = beginOwner(options);
  const [line] = (await Promise.race([
    once(createInterface(child.stdout), 'line'),
    once(child, 'exit').then(() => Promise.reject(new Error('The owner ended without a word.'))),
  ])) as [string];
  const ended = child.exitCode === null ? once(child, 'exit') : Promise.resolve();
  return {
    process: child,
    server: JSON.parse(line) as Owner['server'],
    finish: async () => {
      child.stdin.end();
      await ended;
    },
    murder: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Returns the time until the process is gone. The default allows for a busy machine. */
export async function untilGone(pid: number, withinMs = 20_000): Promise<number> {
  const started = Date.now();
  while (isAlive(pid)) {
    if (Date.now() - started > withinMs) throw new Error(`Process ${pid} is still there after ${withinMs} ms.`);
    await sleep(20);
  }
  return Date.now() - started;
}

export function processesOfSession(pid: number): number[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,pgid='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((row) => row.trim().split(/\s+/).map(Number));
  const group = rows.find(([member]) => member === pid)?.[1];
  return rows.filter(([, own]) => own === group).map(([member]) => member ?? 0);
}

afterAll(() => {
  for (const owner of owners.splice(0)) owner.kill('SIGKILL');
});
