import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { constants } from 'node:os';
import type { Socket } from 'node:net';
import { privateFile } from '../private-files';

export interface GuardedProcess {
  readonly pid: number;
  /** As in a shell: 128 plus the signal's number. */
  readonly exited: Promise<number>;
  /** Sends SIGTERM, and after 3 s SIGKILL. Resolves at the end of the process. */
  stop(): Promise<number>;
  kill(): Promise<number>;
}

const graceMs = 3_000;

/**
 * The shell becomes the command, and its child kills the command when the pipe from this process ends. A line in the pipe says that the
 * command has ended: another process may soon have its id.
 */
const guardScript = `
umask 077
exec 4<&0 </dev/null
(read -r _ <&4 || kill -KILL $$) >/dev/null 2>&1 &
exec "$@" 4<&-
`;

/** Starts a command that dies with this process, even after `kill -9`. In its own session the command gets no Ctrl-C of the terminal. */
export async function startGuarded(
  command: string,
  args: readonly string[],
  options: { readonly logFile: string; readonly environment: NodeJS.ProcessEnv },
): Promise<GuardedProcess> {
  const log = openSync(options.logFile, 'w', privateFile);
  const child = spawn('/bin/sh', ['-c', guardScript, 'holdfast-guard', command, ...args], {
    detached: true,
    stdio: ['pipe', log, log],
    env: options.environment,
  });
  closeSync(log);
  const leash = child.stdin as Socket;
  leash.on('error', () => undefined);
  const exited = new Promise<number>((resolve) => {
    child.once('exit', (code, signal) => {
      leash.end('ended\n');
      resolve(code ?? 128 + constants.signals[signal ?? 'SIGTERM']);
    });
  });
  await once(child, 'spawn');
  child.unref();
  leash.unref();
  const end = (signal: NodeJS.Signals): Promise<number> => {
    child.ref();
    child.kill(signal);
    return exited;
  };
  return {
    pid: child.pid ?? 0,
    exited,
    kill: () => end('SIGKILL'),
    stop: async () => {
      const impatience = setTimeout(() => child.kill('SIGKILL'), graceMs);
      return end('SIGTERM').finally(() => clearTimeout(impatience));
    },
  };
}
