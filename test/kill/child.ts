import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { extname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Json } from '../../contract/messages/messages';
import type { ProgramSettings } from './program-settings';

export interface WorkerSettings extends ProgramSettings {
  /** With a database file in this directory, the process starts a server. */
  readonly serverDirectory?: string;
  readonly payments: string;
  /** Holds calls marked `hold` until a line comes on stdin. */
  readonly hold?: boolean;
  /** Holds `reconcile` of the tool `pay`. */
  readonly holdReconcile?: boolean;
  readonly payTimeout?: string;
  readonly graceMs?: number;
}

export interface Step {
  readonly calls: readonly { readonly tool: string; readonly input: Json }[];
  readonly hold?: boolean;
}

export interface Payment {
  readonly key: string;
  readonly amount: number;
}

export interface Child {
  readonly process: ChildProcess;
  readonly lines: readonly string[];
  line(start: string): Promise<string>;
  release(): void;
  murder(): Promise<void>;
  terminate(): Promise<number | null>;
}

const programs = extname(__filename) === '.js' ? __dirname : join(__dirname, '..', '..', 'dist', 'test', 'kill');
const children: ChildProcess[] = [];

export function spawnWorker(settings: WorkerSettings): Child {
  return spawnProgram('worker-process', settings);
}

export function spawnProgram(name: string, settings: object): Child {
  const child = spawn(process.execPath, [join(programs, `${name}.js`), JSON.stringify(settings)], { stdio: ['pipe', 'pipe', 'pipe'] });
  children.push(child);
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  let ended = false;
  let complaint = '';
  const wake = (): void => waiting.forEach((look) => look());
  createInterface(child.stdout).on('line', (line) => {
    lines.push(line);
    wake();
  });
  child.stderr.on('data', (chunk) => (complaint += String(chunk)));
  child.stdin.on('error', () => undefined);
  const gone = once(child, 'close').then(() => {
    ended = true;
    wake();
  });
  return {
    process: child,
    lines,
    line: (start) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = lines.find((line) => line.startsWith(start));
          if (found === undefined && !ended) return;
          waiting.delete(look);
          if (found === undefined) reject(new Error(`The worker ended without "${start}". It said: ${lines.join(' | ')} ${complaint}`));
          else resolve(found);
        };
        waiting.add(look);
        look();
      }),
    release: () => void child.stdin.write('go\n'),
    murder: async () => {
      child.kill('SIGKILL');
      await gone;
    },
    terminate: async () => {
      child.kill('SIGTERM');
      await gone;
      return child.exitCode;
    },
  };
}

export function killAll(): void {
  for (const child of children.splice(0)) child.kill('SIGKILL');
}
