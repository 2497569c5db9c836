import { createHash } from 'node:crypto';
import { currentCall } from '../../../activities/calls/call-context';
import type { ToolWorkerCall, WorkerMiddleware } from '../../../activities/worker-middleware/worker-middleware';
import { defineWorkerMiddleware } from '../../../activities/worker-middleware/worker-middleware';
import { HoldfastError, messageOf } from '../../../contract/errors';
import type { FileBackend } from './backend';
import type { Forms } from '../../../contract/check';
import { bound, checkOptions, filled, form, func, isFilledList, required, worded } from '../../../contract/check';
import { backendForm } from './backend';
import { numberedLines } from './read-file';
import { textsOf, wholeResults, withText } from './whole-results';

export interface LargeResultsOptions {
  readonly backend: FileBackend;
  /** Most tokens of a result, of four bytes. Default: 20,000. */
  readonly tokens?: number;
  /** Default: a name made of the call, in `/large_tool_result`. */
  readonly pathOf?: (call: { readonly tool: string; readonly callId: string }) => string;
  /** Tools whose results stay. Default: `read_file`. */
  readonly except?: readonly string[];
  /** The tool that the notice names. Default: `read_file`. */
  readonly readFileTool?: string;
}

const shownLines = 10;

/**
 * Puts large results into files, for `filesystem({ largeResults: true })`.
 * @example
 * const backend = directoryBackend('workspace');
 * export default defineConfig({
 *   agents: 'agents.ts',
 *   middleware: [largeResults({ backend, tokens: 5000 })],
 *   tools: { ...tools, ...fileTools({ backend }) },
 * });
 */
export function largeResults(options: LargeResultsOptions): WorkerMiddleware {
  checkOptions('largeResults', options, forms, 'config-invalid');
  const { backend, tokens = 20_000, pathOf, readFileTool = 'read_file', except = [readFileTool] } = options;
  const insteadOf = async (text: string, call: ToolWorkerCall): Promise<string | undefined> => {
    const bytes = Buffer.byteLength(text);
    if (bytes <= tokens * 4) return undefined;
    try {
      const path = pathOf === undefined ? defaultPath(call) : pathOf({ tool: call.tool, callId: call.callId });
      if (typeof path !== 'string' || path === '') throw new Error('pathOf gave no path.');
      await backend.write(path, text);
      return notice(text, call.callId, path, readFileTool);
    } catch (error) {
      // An error of the worker middleware would end the run; this error goes to the model.
      const message = `It ran, but its result of ${bytes} bytes is too large, and could not be put into a file: ${messageOf(error)}`;
      throw new HoldfastError('tool-failed', message, { cause: error });
    }
  };
  const wraps = wholeResults({
    stays: ({ tool }) => except.includes(tool),
    async change(output, isParts, call) {
      const text = await insteadOf(textsOf(output, isParts).join('\n'), call);
      return text === undefined ? output : withText(output, isParts, text);
    },
  });
  return defineWorkerMiddleware('largeResults', () => wraps);
}

/** Ids of calls repeat, so a hash tells calls apart. */
function defaultPath({ callId, id }: ToolWorkerCall): string {
  const own = createHash('sha256')
    .update(`${currentCall()?.workflowId ?? ''}/${id}`)
    .digest('hex')
    .slice(0, 8);
  return `/large_tool_result/${callId.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64)}-${own}`;
}

function notice(text: string, callId: string, path: string, readFileTool: string): string {
  const start = numberedLines(text, 1, shownLines)
    .split('\n')
    .map((line) => (line.length > 200 ? `${line.slice(0, 200)}…` : line))
    .join('\n');
  return [
    `Tool result too large. The result of the call ${callId} was saved in the file ${path}.`,
    `Read it in pieces with ${readFileTool}, by offset and limit. This is how it begins:`,
    '',
    start,
  ].join('\n');
}

const forms: Forms<LargeResultsOptions> = {
  backend: required(backendForm),
  tokens: bound,
  pathOf: worded(func, 'a function that gives a path'),
  except: form(isFilledList, 'an array of names of tools'),
  readFileTool: filled,
};
