import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { constants } from 'node:os';
import type { Socket } from 'node:net';
import { privateFile } from '../private-files';

export interface GuardedProcess {
  readonly pid: number;
  /** The exit code as in a shell: 128 and the number of the signal after a signal. */
  readonly exited: Promise<number>;
  /** SIGTERM, after 3 s SIGKILL. Resolves when the process is gone. */
  stop(): Promise<number>;
  /** SIGKILL. Resolves when the process is gone. */
  kill(): Promise<number>;
}

const graceMs = 3_000;

/**
 * The shell becomes the command. A child of the shell reads a pipe of this process, and kills the command at the end of the pipe, for any death of
 * this process. A line in the pipe says that the command has ended and its id may soon belong to another process.
 */
const guardScript = `
umask 077
exec 4<&0 </dev/null
(read -r _ <&4 || kill -KILL $$) >/dev/null 2>&1 &
exec "$@" 4<&-
`;

/**
 * Starts a command that never outlives this process, even after kill -9. The command runs in its own session, so Ctrl-C in the terminal does not
 * reach the command. The command does not keep this process alive.
 */
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
