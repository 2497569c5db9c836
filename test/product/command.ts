import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

export interface Command {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
  /** What stands on stdout once this text does. */
  seen(text: string): Promise<string>;
  /** What stands on stderr once this text does. */
  complained(text: string): Promise<string>;
}

type Start = (args: readonly string[], variables?: Readonly<Record<string, string>>) => Command;

export const commandFile = join(__dirname, '..', '..', 'dist', 'cli', 'main.js');

/** Starts compiled commands in a directory, which is also the one of the embedded server. */
export function commandsIn(directory: string): Start {
  return (args, variables = {}) => {
    const child = spawn(process.execPath, [commandFile, ...args], {
      cwd: directory,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], HOLDFAST_DIR: directory, ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return commandOf(child);
  };
}

/** The address of the service of a `dev` that is starting, once it takes runs. */
export async function serviceOf(dev: Command): Promise<string> {
  return /service\s+(\S+)/.exec(await dev.seen('Try:'))?.[1] ?? '';
}

/** What a process says that writes to pipes. */
export function commandOf(child: ChildProcess): Command {
  const said = { out: '', error: '' };
  const looks = new Set<() => void>();
  const hear = (stream: 'out' | 'error') => (chunk: Buffer) => {
    said[stream] += chunk.toString();
    for (const look of looks) look();
  };
  child.stdout?.on('data', hear('out'));
  child.stderr?.on('data', hear('error'));
  const ended = new Promise<Ended>((done) => child.once('close', (code) => done({ code, ...said })));
  const until = (stream: 'out' | 'error', text: string): Promise<string> =>
    new Promise((found, failed) => {
      const look = (): void => (said[stream].includes(text) ? found(said[stream]) : undefined);
      looks.add(look);
      look();
      void ended.then(() => failed(new Error(`"${text}" was never written:\n${said.out}\n${said.error}`)));
    });
  return { process: child, ended, seen: (text) => until('out', text), complained: (text) => until('error', text) };
}
