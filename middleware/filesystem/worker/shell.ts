import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastError } from '../../../contract/errors';
import { bound, checkOptions, tableOf, text, worded } from '../../../contract/check';
import { commandVariable, endGroup, endMarked } from './processes';

export interface CommandResult {
  readonly output: string;
  readonly exitCode?: number;
  readonly truncated?: boolean;
}

export interface Shell {
  execute(command: string, signal: AbortSignal): Promise<CommandResult>;
}

export type CommandPiece = Partial<CommandResult>;

export interface StreamingShell {
  stream(command: string, signal: AbortSignal): AsyncIterable<CommandPiece | null | undefined>;
}

const noOutput = '[Command executed successfully with no output]';

function notesOf({ exitCode = 0, truncated = false }: CommandPiece): readonly string[] {
  return [
    ...(exitCode === 0 ? [] : [`[Command failed with exit code ${exitCode}]`]),
    ...(truncated ? ['[Output was truncated due to size limits]'] : []),
  ];
}

export function textOfResult({ output, ...end }: CommandResult): string {
  const told = [output, ...notesOf(end)].filter((one) => one !== '');
  return told.length === 0 ? noOutput : told.join('\n');
}

export async function* textOfPieces(pieces: AsyncIterable<CommandPiece | null | undefined>): AsyncGenerator<string> {
  let isSilent = true;
  let [exitCode, truncated] = [0, false];
  for await (const piece of pieces) {
    if (piece === null || piece === undefined) continue;
    const { output = '' } = piece;
    exitCode = piece.exitCode ?? exitCode;
    truncated ||= piece.truncated ?? false;
    if (output === '') continue;
    isSilent = false;
    yield output;
  }
  const end = notesOf({ exitCode, truncated });
  if (end.length > 0) yield `${isSilent ? '' : '\n'}${end.join('\n')}`;
  else if (isSilent) yield noOutput;
}

export interface DirectoryShellOptions {
  /** Most bytes of output. Default: 100 KB. */
  readonly maxBytes?: number;
  /** Default: only the worker's PATH and HOME, so that commands get no keys. `HOLDFAST_COMMAND` is always added. */
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Runs commands in a folder, without a sandbox: a command can do all that the worker can, so put an approval before `execute`. Processes of
 * a command end with the command.
 * @example
 * export const files = fileTools({
 *   backend: directoryBackend('workspace'),
 *   shell: directoryShell('workspace'),
 * });
 * export const rules = approval({ tools: { execute: true } });
 */
export function directoryShell(folder: string, options: DirectoryShellOptions = {}): Shell {
  if (typeof folder !== 'string' || folder === '') throw new HoldfastError('config-invalid', 'directoryShell needs the path of a folder.');
  const { maxBytes = 100 * 1024, environment } = checkOptions<DirectoryShellOptions>(
    'directoryShell',
    options,
    { maxBytes: bound, environment: worded(tableOf(text, ''), 'an object with strings') },
    'config-invalid',
  );
  return {
    async execute(command, signal) {
      if (command.includes('\0')) throw new HoldfastError('tool-input-invalid', 'A command has no NUL in it.');
      const { PATH = '', HOME = '' } = process.env;
      const mark = randomUUID();
      const running = spawn('sh', ['-c', command], {
        cwd: folder,
        env: { ...(environment ?? { PATH, HOME }), [commandVariable]: mark },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      });
      const kept: Buffer[] = [];
      let bytes = 0;
      const take = (piece: Buffer): void => {
        if (bytes < maxBytes) kept.push(piece.subarray(0, maxBytes - bytes));
        bytes += piece.length;
      };
      running.stdout.on('data', take);
      running.stderr.on('data', take);
      const closed = once(running, 'close');
      closed.catch(() => undefined);
      const stop = (): void => endGroup(running.pid);
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
      try {
        const [exitCode] = (await once(running, 'exit')) as [number | null];
        stop();
        await endMarked(mark);
        // An escaped process may hold the output open.
        await Promise.race([closed, delay(patience, undefined, { ref: false })]);
        signal.throwIfAborted();
        return { output: Buffer.concat(kept).toString('utf8'), truncated: bytes > maxBytes, exitCode: exitCode ?? 137 };
      } catch (error) {
        throw signal.aborted ? signal.reason : inOwnWords(error);
      } finally {
        signal.removeEventListener('abort', stop);
        running.stdout.destroy();
        running.stderr.destroy();
      }
    },
  };
}

const patience = 1000;

function inOwnWords(error: unknown): unknown {
  const { code, syscall } = error as { readonly code?: string; readonly syscall?: string };
  return syscall === undefined
    ? error
    : new HoldfastError('tool-failed', `The command could not be started: ${code ?? 'unknown'}. Is the folder there?`);
}
