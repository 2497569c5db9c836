import type { MaybePromise } from '../../contract/maybe-promise';
import type { WorkerWraps, WorkerMiddleware, ToolWorkerCall } from '../../activities/worker-middleware/worker-middleware';
import { defineWorkerMiddleware } from '../../activities/worker-middleware/worker-middleware';
import { HoldfastError, messageOf } from '../../contract/errors';
import type { Json, Part } from '../../contract/messages/messages';
import { checkOptions, func, tableOf, worded } from '../../contract/check';
import type { TruncationOptions } from './plain';
import { offloadPath, offloadToolName, reductionName, textOfOutput } from './plain';
import type { OffloadBackend } from './worker/offload';
import { currentRun, offloadForm } from './worker/offload';
import type { Cutting } from './worker/stream';
import { cutStream, noticeOf, previewsOf } from './worker/stream';

export interface LongResult {
  readonly tool: string;
  readonly callId: string;
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

/** Stores long results, and leaves a notice with beginning and end. */
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
  return {
    async wrapInvokableToolCall(input, next, call) {
      const output = await next(input);
      return truncation.isExcluded(call) ? output : truncation.cut(output, false, call);
    },
    async wrapEnhancedInvokableToolCall(input, next, call) {
      const output = await next(input);
      return truncation.isExcluded(call) ? output : truncation.cutParts(output, call);
    },
    wrapStreamableToolCall(input, next, call) {
      if (truncation.isExcluded(call)) return next(input);
      if (truncation.handlerOf(call) !== undefined) return truncation.handledText(next(input), call);
      return cutStream(next(input), { textOf: (piece) => piece, pieceOf: (text) => text }, truncation.cutting(call));
    },
    wrapEnhancedStreamableToolCall(input, next, call) {
      if (truncation.isExcluded(call)) return next(input);
      if (truncation.handlerOf(call) !== undefined) return truncation.handledParts(next(input), call);
      const textOf = (part: Part): string | undefined => (part.type === 'text' ? part.text : undefined);
      return cutStream(next(input), { textOf, pieceOf: (text): Part => ({ type: 'text', text }) }, truncation.cutting(call));
    },
  };
}

class Truncation {
  constructor(
    private readonly options: ReductionOnWorkerOptions,
    private readonly truncation: TruncationOptions,
  ) {}

  /** For tools that store or read results a notice would lead to another notice. */
  isExcluded({ tool }: ToolWorkerCall): boolean {
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

  async cut(output: Json, multipart: boolean, call: ToolWorkerCall): Promise<Json> {
    const parts = multipart ? (output as unknown as readonly Part[]) : [];
    const texts = multipart ? textsOf(parts) : [textOfOutput(output, false)];
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
    if (!multipart) return notice;
    const first = parts.findIndex(({ type }) => type === 'text');
    return parts.flatMap((part, at): Part[] => (part.type !== 'text' ? [part] : at === first ? [{ type: 'text', text: notice }] : []));
  }

  async cutParts(parts: readonly Part[], call: ToolWorkerCall): Promise<readonly Part[]> {
    return (await this.cut(parts, true, call)) as unknown as readonly Part[];
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
      offloadPath(this.truncation.rootDir, currentRun(), id, 'trunc', callId);
    if (typeof path !== 'string' || path === '') throw new Error('truncOffloadPath returned no path');
    if (backend === undefined) throw new Error('the worker middleware of reduction has no backend');
    await backend.write(path, text);
    return path;
  }

  async *handledText(stream: AsyncIterable<string>, call: ToolWorkerCall): AsyncGenerator<string> {
    let text = '';
    for await (const piece of stream) text += piece;
    const output = await this.cut(text, false, call);
    yield typeof output === 'string' ? output : JSON.stringify(output);
  }

  async *handledParts(stream: AsyncIterable<Part>, call: ToolWorkerCall): AsyncGenerator<Part> {
    const parts: Part[] = [];
    for await (const part of stream) parts.push(part);
    yield* await this.cutParts(parts, call);
  }
}

function textsOf(parts: readonly Part[]): readonly string[] {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
}

export { directoryOffload, offloadTools } from './worker/offload';
export type { OffloadBackend } from './worker/offload';
