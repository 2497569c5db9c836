import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

export interface Running {
  readonly ended: Promise<Ended>;
  seen(text: string): Promise<string>;
  complained(text: string, after?: number): Promise<string>;
}

export interface Command extends Running {
  readonly process: ChildProcess;
}

export type Start<Started extends Running = Command> = (args: readonly string[], variables?: Readonly<Record<string, string>>) => Started;

export const commandFile = join(__dirname, '..', '..', 'dist', 'cli', 'main.js');

export function commandsIn(directory: string): Start {
  return (args, variables = {}) => {
    const child = spawn(process.execPath, [commandFile, ...args], {
      cwd: directory,
      env: environmentOf(directory, variables),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return commandOf(child);
  };
}

/** Kills all processes at the end of the file, in reverse, and removes the directory. */
export function ownCommands(name: string): { readonly directory: string; readonly start: Start } {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), `holdfast-${name}-`)));
  const startIn = commandsIn(directory);
  const started: Command[] = [];
  afterAll(async () => {
    for (const { process, ended } of started.reverse()) {
      process.kill('SIGKILL');
      await ended;
    }
    rmSync(directory, { recursive: true, force: true });
  });
  const start: Start = (args, variables) => {
    const command = startIn(args, variables);
    started.push(command);
    return command;
  };
  return { directory, start };
}

export function environmentOf(directory: string, variables: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], HOME: process.env['HOME'], HOLDFAST_DIR: directory, ...variables };
}

export async function serviceOf(dev: Command): Promise<string> {
  return /service\s+(\S+)/.exec(await dev.seen('Try:'))?.[1] ?? '';
}

export function commandOf(child: ChildProcess): Command {
  return {
    process: child,
    ...heard(({ out, error }) => {
      child.stdout?.on('data', (chunk: Buffer) => out(chunk.toString()));
      child.stderr?.on('data', (chunk: Buffer) => error(chunk.toString()));
      return new Promise((done) => child.once('close', done));
    }),
  };
}

interface Hearing {
  out(text: string): void;
  error(text: string): void;
}

export function heard(run: (hearing: Hearing) => Promise<number | null>): Running {
  const said = { out: '', error: '' };
  const looks = new Set<() => void>();
  const hear = (stream: 'out' | 'error') => (text: string) => {
    said[stream] += text;
    for (const look of looks) look();
  };
  const ended = run({ out: hear('out'), error: hear('error') }).then((code) => ({ code, ...said }));
  const until = (stream: 'out' | 'error', text: string, after = 0): Promise<string> =>
    new Promise((found, failed) => {
      const look = (): void => {
        const since = said[stream].slice(after);
        if (!since.includes(text)) return;
        looks.delete(look);
        found(since);
      };
      looks.add(look);
      look();
      void ended.then(() => failed(new Error(`"${text}" was never written:\n${said.out}\n${said.error}`)));
    });
  return { ended, seen: (text) => until('out', text), complained: (text, after) => until('error', text, after) };
}
