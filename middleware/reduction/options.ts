import type { MaybePromise } from '../../contract/maybe-promise';
import type { Json, Message, ToolCall } from '../../contract/messages/messages';
import type { HookContext } from '../../kernel/define/middleware';
import { bound, checkOptions, count, filled, flag, func, names, refusing, shape, tableOf } from '../../contract/check';
import type { TokenCounter } from '../token-count';

export interface ClearedResult {
  readonly call: ToolCall;
  readonly output: Json;
}

/** Absent fields stay. A stored result without a text gets a notice. */
export interface ClearedCall {
  readonly input?: Json;
  readonly text?: string;
  /** Stored by `offloadTools`. Default path: made of the call. */
  readonly offload?: { readonly text: string; readonly path?: string };
}

/** Only the cleared calls, and their results in order. */
export interface ClearedRound {
  readonly assistant: Message;
  readonly calls: readonly ToolCall[];
  readonly results: readonly (Json | undefined)[];
}

export interface ToolReduction {
  /** In bytes. */
  readonly maxLengthForTrunc?: number;
  readonly skipTruncation?: boolean;
  readonly skipClear?: boolean;
  /** A text in place of the result, or changes of the call. Undefined: the call stays. */
  readonly clear?: (result: ClearedResult, ctx: HookContext) => MaybePromise<string | ClearedCall | undefined>;
}

export interface ReductionOptions {
  /** Keeps long results. Default: false. */
  readonly skipTruncation?: boolean;
  /** Keeps old results. Default: false. */
  readonly skipClear?: boolean;
  /** The tool that reads stored results. Default: `read_file`. */
  readonly readFileToolName?: string;
  /** First part of every path. Default: `offload`. */
  readonly rootDir?: string;
  /** In bytes. Default: 50,000. */
  readonly maxLengthForTrunc?: number;
  readonly truncExcludeTools?: readonly string[];
  /** In tokens. Default: 160,000. */
  readonly maxTokensForClear?: number;
  /** Newest rounds that stay. Default: 1. */
  readonly clearRetentionSuffixLimit?: number;
  /** Clears nothing if fewer tokens would go. Default: 0. */
  readonly clearAtLeastTokens?: number;
  readonly clearExcludeTools?: readonly string[];
  /** Stores cleared results by `offloadTools`. Default: unless `skipTruncation`. */
  readonly offloadCleared?: boolean;
  readonly clearOffloadPath?: (call: ToolCall, ctx: HookContext) => string;
  /** Replaces a round's messages. Undefined: the round goes. */
  readonly clearMessageRewriter?: (round: ClearedRound, ctx: HookContext) => MaybePromise<readonly Message[] | undefined>;
  readonly clearPostProcess?: (
    change: { readonly before: readonly Message[]; readonly after: readonly Message[] },
    ctx: HookContext,
  ) => MaybePromise<void>;
  /** Default: `contextTokens`. */
  readonly tokenCounter?: TokenCounter;
  readonly toolConfig?: Readonly<Record<string, ToolReduction>>;
}

const skipped = [
  ['skipTruncation', ['maxLengthForTrunc', 'truncExcludeTools']],
  [
    'skipClear',
    [
      ...(['maxTokensForClear', 'clearRetentionSuffixLimit', 'clearAtLeastTokens', 'clearExcludeTools', 'offloadCleared'] as const),
      ...(['clearMessageRewriter', 'clearPostProcess', 'tokenCounter'] as const),
    ],
  ],
] as const;

const toolForm = shape({ maxLengthForTrunc: bound, skipTruncation: flag, skipClear: flag, clear: func });

export function checkedReduction(options: unknown): ReductionOptions {
  const checked = checkOptions<ReductionOptions>('reduction', options, {
    skipTruncation: flag,
    skipClear: flag,
    readFileToolName: filled,
    rootDir: filled,
    maxLengthForTrunc: bound,
    truncExcludeTools: names,
    maxTokensForClear: bound,
    clearRetentionSuffixLimit: count,
    clearAtLeastTokens: count,
    clearExcludeTools: names,
    offloadCleared: flag,
    clearOffloadPath: func,
    clearMessageRewriter: func,
    clearPostProcess: func,
    tokenCounter: func,
    toolConfig: tableOf(toolForm, 'an object with options by the names of tools'),
  });
  const refuse = refusing('reduction');
  if (checked.skipTruncation === true && checked.skipClear === true)
    refuse('with skipTruncation and skipClear it does nothing; leave one of them out, or the middleware.');
  if (checked.clearOffloadPath !== undefined && !offloadsCleared(checked))
    refuse('clearOffloadPath is for cleared results that are stored; write offloadCleared: true beside it.');
  for (const [skip, fields] of skipped) {
    const unused = checked[skip] === true ? fields.find((field) => checked[field] !== undefined && checked[field] !== false) : undefined;
    if (unused !== undefined) refuse(`${unused} would do nothing with ${skip}: true; leave one of them out.`);
  }
  for (const [tool, config] of Object.entries(checked.toolConfig ?? {})) {
    const { maxLengthForTrunc, skipTruncation, skipClear, clear } = config;
    if (skipTruncation === true && maxLengthForTrunc !== undefined)
      refuse(`toolConfig of "${tool}" has maxLengthForTrunc, which does nothing with skipTruncation: true; leave one of them out.`);
    if (skipClear === true && clear !== undefined)
      refuse(`toolConfig of "${tool}" has clear, which does nothing with skipClear: true; leave one of them out.`);
  }
  return checked;
}

export function offloadsCleared({ offloadCleared, skipTruncation = false, skipClear = false }: ReductionOptions): boolean {
  return !skipClear && (offloadCleared ?? !skipTruncation);
}
