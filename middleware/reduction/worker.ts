import type { MaybePromise } from '../../contract/maybe-promise';
import type { WorkerWraps, WorkerMiddleware, ToolWorkerCall } from '../../activities/worker-middleware/worker-middleware';
import { defineWorkerMiddleware } from '../../activities/worker-middleware/worker-middleware';
import { HoldfastError, messageOf } from '../../contract/errors';
import type { Json, Part } from '../../contract/messages/messages';
import { checkOptions, func, tableOf, worded } from '../../contract/check';
import type { ResultChange } from '../filesystem/worker/whole-results';
import { textsOf, wholeResults, withText } from '../filesystem/worker/whole-results';
import type { TruncationOptions } from './plain';
import { offloadPath, offloadToolName, reductionName } from './plain';
import type { OffloadBackend } from './worker/offload';
import { currentRun, offloadForm } from './worker/offload';
import type { Cutting } from './worker/stream';
import { cutStream, noticeOf, previewsOf } from './worker/stream';

export interface LongResult extends Pick<ToolWorkerCall, 'tool' | 'callId'> {
  readonly output: Json;
  readonly text: string;
  /** In bytes. */
  readonly maxLength: number;
}

export interface TruncatedResult {
  readonly output: Json;
  /** Default path: made of the call. */
  readonly offload?: { readonly text: string; readonly path?: string };
}

export interface ReductionOnWorkerOptions {
  /** Needed to cut results. */
  readonly backend?: OffloadBackend;
  readonly truncOffloadPath?: (call: Pick<ToolWorkerCall, 'agent' | 'tool' | 'callId'>) => MaybePromise<string>;
  /** By tool, instead of the bound. Streams are collected first. */
  readonly handlers?: Readonly<Record<string, (result: LongResult) => MaybePromise<TruncatedResult | undefined>>>;
}

/**
 * Stores long results, and leaves a notice with beginning and end.
 * @example
 * const backend = directoryOffload('.holdfast/offload');
 * export default defineConfig({
 *   agents: 'agents.ts',
 *   middleware: [reductionOnWorker({ backend })],
 *   tools: { ...tools, ...offloadTools(backend) },
 * });
 */
export function reductionOnWorker(options: ReductionOnWorkerOptions = {}): WorkerMiddleware {
  checkOptions<ReductionOnWorkerOptions>(
    'reductionOnWorker',
    options,
    {
      backend: offloadForm,
      truncOffloadPath: func,
      handlers: worded(tableOf(func, ''), 'an object with a function for each tool'),
    },
    'config-invalid',
  );
  return defineWorkerMiddleware<TruncationOptions>(reductionName, (truncation) => wrapsOf(new Truncation(options, truncation)));
}

function wrapsOf(truncation: Truncation): WorkerWraps {
  const whole = wholeResults(truncation);
  const isCollected = (call: ToolWorkerCall): boolean => truncation.stays(call) || truncation.handlerOf(call) !== undefined;
  return {
    ...whole,
    wrapStreamableToolCall(input, next, call) {
      if (isCollected(call)) return whole.wrapStreamableToolCall(input, next, call);
      return cutStream(next(input), { textOf: (piece) => piece, pieceOf: (text) => text }, truncation.cutting(call));
    },
    wrapEnhancedStreamableToolCall(input, next, call) {
      if (isCollected(call)) return whole.wrapEnhancedStreamableToolCall(input, next, call);
      const textOf = (part: Part): string | undefined => (part.type === 'text' ? part.text : undefined);
      return cutStream(next(input), { textOf, pieceOf: (text): Part => ({ type: 'text', text }) }, truncation.cutting(call));
    },
  };
}

class Truncation implements ResultChange {
  constructor(
    private readonly options: ReductionOnWorkerOptions,
    private readonly truncation: TruncationOptions,
  ) {}

  /** For tools that store or read results a notice would lead to another notice. */
  stays({ tool }: ToolWorkerCall): boolean {
    const { exclude, readFileToolName } = this.truncation;
    return tool === offloadToolName || tool === readFileToolName || exclude.includes(tool);
  }

  handlerOf({ tool }: ToolWorkerCall): NonNullable<ReductionOnWorkerOptions['handlers']>[string] | undefined {
    const { handlers = {} } = this.options;
    return Object.hasOwn(handlers, tool) ? handlers[tool] : undefined;
  }

  private boundOf({ tool }: ToolWorkerCall): number {
    const { maxLengths, maxLength } = this.truncation;
    return Object.hasOwn(maxLengths, tool) ? (maxLengths[tool] ?? maxLength) : maxLength;
  }

  cutting(call: ToolWorkerCall): Cutting {
    const { readFileToolName } = this.truncation;
    return { save: (text) => this.save(call, text), maxLength: this.boundOf(call), readFileToolName };
  }

  async change(output: Json, isParts: boolean, call: ToolWorkerCall): Promise<Json> {
    const texts = textsOf(output, isParts);
    const text = texts.join('\n');
    const maxLength = this.boundOf(call);
    const handler = this.handlerOf(call);
    if (handler !== undefined) {
      const made = await handler({ tool: call.tool, callId: call.callId, output, text, maxLength });
      if (made === undefined) return output;
      if (made.offload !== undefined) await this.saveOrFail(call, made.offload.text, made.offload.path);
      return made.output;
    }
    const bytes = Buffer.byteLength(text);
    if (bytes <= maxLength) return output;
    const path = await this.saveOrFail(call, text);
    const { readFileToolName } = this.truncation;
    const bytesEach = Math.floor(maxLength / texts.length / 2);
    const notice = noticeOf({ bytes, saved: { path }, said: texts.flatMap((one) => previewsOf(one, bytesEach)), readFileToolName });
    return withText(output, isParts, notice);
  }

  private async saveOrFail(call: ToolWorkerCall, text: string, path?: string): Promise<string> {
    try {
      return await this.save(call, text, path);
    } catch (error) {
      throw new HoldfastError(
        'tool-failed',
        `It ran, but its output of ${Buffer.byteLength(text)} bytes is too large to show, and could not be saved: ${messageOf(error)}`,
        { cause: error },
      );
    }
  }

  private async save({ agent, id, tool, callId }: ToolWorkerCall, text: string, given?: string): Promise<string> {
    const { backend, truncOffloadPath } = this.options;
    const path =
      given ??
      (await truncOffloadPath?.({ agent, tool, callId })) ??
      offloadPath(this.truncation.rootDir, currentRun(), 'trunc', { place: id, callId });
    if (typeof path !== 'string' || path === '') throw new Error('truncOffloadPath returned no path');
    if (backend === undefined) throw new Error('the worker middleware of reduction has no backend');
    await backend.write(path, text);
    return path;
  }
}

export { directoryOffload, offloadTools } from './worker/offload';
export type { OffloadBackend } from './worker/offload';
