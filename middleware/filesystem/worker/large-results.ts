import { createHash } from 'node:crypto';
import { currentCall } from '../../../activities/calls/call-context';
import type { ToolWorkerCall, WorkerMiddleware } from '../../../activities/worker-middleware/worker-middleware';
import { defineWorkerMiddleware } from '../../../activities/worker-middleware/worker-middleware';
import { HoldfastError, messageOf } from '../../../contract/errors';
import type { Json, Part } from '../../../contract/messages/messages';
import type { FileBackend } from './backend';
import type { Forms } from '../../../contract/check';
import { bound, checkOptions, filled, form, func, isFilledList, required, worded } from '../../../contract/check';
import { backendForm } from './backend';
import { numberedLines } from './read-file';

export interface LargeResultsOptions {
  readonly backend: FileBackend;
  /** Tokens that a result may have, at four bytes each. Default 20,000. */
  readonly tokens?: number;
  /** The file for a result. Default: a name made of the call, in /large_tool_result. */
  readonly pathOf?: (call: { readonly tool: string; readonly callId: string }) => string;
  /** Tools whose results stay as they are. Default: read_file, by which the model reads such files. */
  readonly except?: readonly string[];
  /** The tool that the model is told to read the file with. Default: read_file. */
  readonly readFileTool?: string;
}

const shownLines = 10;

/** The worker middleware that puts results that are too large into files; an agent has it by `filesystem({ largeResults: true })`. */
export function largeResults(options: LargeResultsOptions): WorkerMiddleware {
  checkOptions('largeResults', options, forms, 'config-invalid');
  const { backend, tokens = 20_000, pathOf, readFileTool = 'read_file', except = [readFileTool] } = options;
  const tooLarge = (text: string): boolean => Buffer.byteLength(text) > tokens * 4;
  const kept = async (text: string, call: ToolWorkerCall): Promise<string> => {
    const path = pathOf === undefined ? defaultPath(call) : pathOf({ tool: call.tool, callId: call.callId });
    if (typeof path !== 'string' || path === '') throw new Error('pathOf gave no path.');
    await backend.write(path, text);
    return notice(text, call.callId, path, readFileTool);
  };
  const offloaded = async (text: string, call: ToolWorkerCall): Promise<string> => {
    try {
      return await kept(text, call);
    } catch (error) {
      // An error of the call and not of the worker middleware, which would end the run: the tool ran, and only its result is lost.
      const message = `It ran, but its result of ${Buffer.byteLength(text)} bytes is too large, and could not be put into a file: ${messageOf(error)}`;
      throw new HoldfastError('tool-failed', message, { cause: error });
    }
  };
  /** The texts of a list of parts are one text; files stay where they stand. */
  const shortened = async (parts: readonly Part[], call: ToolWorkerCall): Promise<readonly Part[]> => {
    const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
    if (!tooLarge(text)) return parts;
    const told: Part = { type: 'text', text: await offloaded(text, call) };
    const first = parts.findIndex(({ type }) => type === 'text');
    return parts.flatMap((part, at): Part[] => (part.type !== 'text' ? [part] : at === first ? [told] : []));
  };
  return defineWorkerMiddleware('largeResults', () => ({
    async wrapInvokableToolCall(input, next, call): Promise<Json> {
      const output = await next(input);
      if (except.includes(call.tool)) return output;
      const text = typeof output === 'string' ? output : JSON.stringify(output);
      return tooLarge(text) ? offloaded(text, call) : output;
    },
    async *wrapStreamableToolCall(input, next, call) {
      const pieces = next(input);
      if (except.includes(call.tool)) {
        yield* pieces;
        return;
      }
      // What is seen of it has to be the result: so nothing is, before it is known which of both that is.
      let text = '';
      for await (const piece of pieces) text += piece;
      yield tooLarge(text) ? await offloaded(text, call) : text;
    },
    async wrapEnhancedInvokableToolCall(input, next, call) {
      const parts = await next(input);
      return except.includes(call.tool) ? parts : shortened(parts, call);
    },
    async *wrapEnhancedStreamableToolCall(input, next, call) {
      const pieces = next(input);
      if (except.includes(call.tool)) {
        yield* pieces;
        return;
      }
      const parts: Part[] = [];
      for await (const part of pieces) parts.push(part);
      yield* await shortened(parts, call);
    },
  }));
}

/** Ids of calls repeat, in other runs and also in one: the rest of the name is that of this call alone. */
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
