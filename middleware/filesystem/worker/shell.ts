import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastError } from '../../../contract/errors';
import { bound, checkOptions, form, isRecord } from '../../../contract/check';
import { commandVariable, endGroup, endMarked } from './processes';

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

/** How a command came out that did not end well. */
function notesOf({ exitCode = 0, truncated = false }: CommandPiece): readonly string[] {
  return [
    ...(exitCode === 0 ? [] : [`[Command failed with exit code ${exitCode}]`]),
    ...(truncated ? ['[Output was truncated due to size limits]'] : []),
  ];
}

/** What the model is told of a command. */
export function textOfResult({ output, ...end }: CommandResult): string {
  const told = [output, ...notesOf(end)].filter((text) => text !== '');
  return told.length === 0 ? noOutput : told.join('\n');
}

/** The same, piece by piece. */
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
  /** Bytes of output that are kept. Default 100 KB. */
  readonly maxBytes?: number;
  /** What commands have as their environment. Default: PATH and HOME of the worker, and nothing else, so that no key gets into a command. HOLDFAST_COMMAND is always there: by it the processes of a command are found. */
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Runs commands with `sh` in a folder, with the rights of the worker. It is no sandbox: a command can reach all that the worker can. Put an
 * approval before `execute`, or run the worker where that does no harm. What a command leaves running ends with it, and when it is
 * cancelled.
 */
export function directoryShell(folder: string, options: DirectoryShellOptions = {}): Shell {
  if (typeof folder !== 'string' || folder === '') throw new HoldfastError('config-invalid', 'directoryShell needs the path of a folder.');
  const { maxBytes = 100 * 1024, environment } = checkOptions<DirectoryShellOptions>(
    'directoryShell',
    options,
    { maxBytes: bound, environment: form(isTextTable, 'an object with strings') },
    'config-invalid',
  );
  return {
    async execute(command, signal) {
      if (command.includes('\0')) throw new HoldfastError('tool-input-invalid', 'A command has no NUL in it.');
      const { PATH = '', HOME = '' } = process.env;
      const mark = randomUUID();
      // A group of its own, and a mark for what leaves the group: what the command leaves running ends with it.
      const running = spawn('sh', ['-c', command], {
        cwd: folder,
        env: { ...(environment ?? { PATH, HOME }), [commandVariable]: mark },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      });
      const output = new Output(maxBytes);
      running.stdout.on('data', (piece: Buffer) => output.take(piece));
      running.stderr.on('data', (piece: Buffer) => output.take(piece));
      const closed = once(running, 'close');
      closed.catch(() => undefined);
      const stop = (): void => endGroup(running.pid);
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
      try {
        const [exitCode] = (await once(running, 'exit')) as [number | null];
        stop();
        await endMarked(mark);
        // What hides from us may hold the output open.
        await Promise.race([closed, delay(patience, undefined, { ref: false })]);
        signal.throwIfAborted();
        return { ...output.result, exitCode: exitCode ?? 137 };
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

/** How long to wait for the end of output when the command has ended. */
const patience = 1000;

function isTextTable(value: unknown): boolean {
  return isRecord(value) && Object.values(value).every((one) => typeof one === 'string');
}

function inOwnWords(error: unknown): unknown {
  const { code, syscall } = error as { readonly code?: string; readonly syscall?: string };
  return syscall === undefined
    ? error
    : new HoldfastError('tool-failed', `The command could not be started: ${code ?? 'unknown'}. Is the folder there?`);
}

class Output {
  private readonly pieces: Buffer[] = [];
  private bytes = 0;

  constructor(private readonly maxBytes: number) {}

  take(piece: Buffer): void {
    if (this.bytes < this.maxBytes) this.pieces.push(piece.subarray(0, this.maxBytes - this.bytes));
    this.bytes += piece.length;
  }

  get result(): { readonly output: string; readonly truncated: boolean } {
    return { output: Buffer.concat(this.pieces).toString('utf8'), truncated: this.bytes > this.maxBytes };
  }
}
