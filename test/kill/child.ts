import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { extname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Json } from '../../contract/messages/messages';
import type { ProgramSettings } from './program-settings';

export interface WorkerSettings extends ProgramSettings {
  /** The process starts its own server here, with a database file. */
  readonly serverDirectory?: string;
  /** The file that stands for the provider of payments. */
  readonly payments: string;
  /** Stay inside of the calls that say `hold`, until a line comes on stdin. */
  readonly hold?: boolean;
  readonly payTimeout?: string;
  readonly graceMs?: number;
}

/** One turn of the model. */
export interface Step {
  readonly calls: readonly { readonly tool: string; readonly input: Json }[];
  /** The model is held before it answers this. */
  readonly hold?: boolean;
}

export interface Payment {
  readonly key: string;
  readonly amount: number;
}

export interface Child {
  readonly process: ChildProcess;
  readonly lines: readonly string[];
  /** The first line that begins so, said already or to come. */
  line(start: string): Promise<string>;
  /** Lets it leave the calls in which it is held. */
  release(): void;
  /** kill -9. */
  murder(): Promise<void>;
  /** SIGTERM, and the exit code that comes of it. */
  terminate(): Promise<number | null>;
}

const programs = extname(__filename) === '.js' ? __dirname : join(__dirname, '..', '..', 'dist', 'test', 'kill');
const children: ChildProcess[] = [];

export function spawnWorker(settings: WorkerSettings): Child {
  return spawnProgram('worker-process', settings);
}

/** Starts a compiled program of this folder; `npm test` compiles before it tests. */
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

/** For afterAll: nobody stays behind. */
export function killAll(): void {
  for (const child of children.splice(0)) child.kill('SIGKILL');
}
