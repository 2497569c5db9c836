import { spawn } from 'node:child_process';
import { HoldfastError } from '../../../contract/plain/errors';

export interface CommandResult {
  readonly output: string;
  readonly exitCode?: number;
  /** There was more output than this. */
  readonly truncated?: boolean;
}

/** Runs commands to their end. */
export interface Shell {
  execute(command: string, signal: AbortSignal): Promise<CommandResult>;
}

/** A piece of a command that runs: output, and at its end how it came out. */
export type CommandPiece = Partial<CommandResult>;

/** Runs commands, and gives their output as it comes. */
export interface StreamingShell {
  stream(command: string, signal: AbortSignal): AsyncIterable<CommandPiece | null | undefined>;
}

const noOutput = '[Command executed successfully with no output]';

function failedWith(exitCode: number): string {
  return `[Command failed with exit code ${exitCode}]`;
}

const cut = '[Output was truncated due to size limits]';

/** What the model is told of a command. */
export function textOfResult({ output, exitCode = 0, truncated = false }: CommandResult): string {
  if (output === '' && exitCode === 0 && !truncated) return noOutput;
  return [output, ...(exitCode === 0 ? [] : [failedWith(exitCode)]), ...(truncated ? [cut] : [])].filter((text) => text !== '').join('\n');
}

/** The same, piece by piece. */
export async function* textOfPieces(pieces: AsyncIterable<CommandPiece | null | undefined>): AsyncGenerator<string> {
  let said = '';
  let [exitCode, truncated] = [0, false];
  for await (const piece of pieces) {
    if (piece === null || piece === undefined) continue;
    const { output = '' } = piece;
    exitCode = piece.exitCode ?? exitCode;
    truncated ||= piece.truncated ?? false;
    if (output === '') continue;
    said = output;
    yield output;
  }
  const end = [...(exitCode === 0 ? [] : [failedWith(exitCode)]), ...(truncated ? [cut] : [])];
  if (end.length > 0) yield `${said === '' ? '' : '\n'}${end.join('\n')}`;
  else if (said === '') yield noOutput;
}

export interface DirectoryShellOptions {
  /** Bytes of output that are kept. Default 100 KB. */
  readonly maxBytes?: number;
  /** What commands have as their environment. Default: PATH and HOME of the worker, and nothing else, so that no key gets into a command. */
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Runs commands with `sh` in a folder, with the rights of the worker. It is no sandbox: a command can reach all that the worker can. Put an
 * approval before `execute`, or run the worker where that does no harm.
 */
export function directoryShell(folder: string, options: DirectoryShellOptions = {}): Shell {
  const { maxBytes = 100 * 1024, environment } = options;
  if (typeof folder !== 'string' || folder === '') throw new HoldfastError('config-invalid', 'directoryShell needs the path of a folder.');
  if (!Number.isInteger(maxBytes) || maxBytes < 1)
    throw new HoldfastError('config-invalid', 'directoryShell: maxBytes is a whole number of at least 1.');
  return {
    execute: (command, signal) =>
      new Promise((resolve, reject) => {
        const { PATH = '', HOME = '' } = process.env;
        // A group of its own: what the command leaves running ends with it.
        const running = spawn('sh', ['-c', command], {
          cwd: folder,
          env: environment ?? { PATH, HOME },
          stdio: ['ignore', 'pipe', 'pipe'],
          detached: true,
        });
        const pieces: Buffer[] = [];
        let bytes = 0;
        const take = (piece: Buffer): void => {
          if (bytes < maxBytes) pieces.push(piece.subarray(0, maxBytes - bytes));
          bytes += piece.length;
        };
        const stop = (): void => endGroup(running.pid);
        running.stdout.on('data', take);
        running.stderr.on('data', take);
        signal.addEventListener('abort', stop, { once: true });
        if (signal.aborted) stop();
        running.once('error', reject);
        running.once('exit', stop);
        running.once('close', (exitCode) => {
          signal.removeEventListener('abort', stop);
          if (signal.aborted) return reject(signal.reason);
          resolve({ output: Buffer.concat(pieces).toString('utf8'), exitCode: exitCode ?? 137, truncated: bytes > maxBytes });
        });
      }),
  };
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
