import type { MaybePromise } from '../../contract/maybe-promise';
import type { Json, Message, ToolCall } from '../../contract/messages/messages';
import type { HookContext } from '../../kernel/define/middleware';
import { bound, checkOptions, count, filled, flag, func, names, refusing, shape, tableOf } from '../../contract/check';
import type { TokenCounter } from '../token-count';

/** A result that is about to be cleared. */
export interface ClearedResult {
  readonly call: ToolCall;
  readonly output: Json;
}

/** What becomes of a call that is cleared. What is left out stays as it is, but for a text that is stored: a notice says where. */
export interface ClearedCall {
  /** Other arguments of the call. */
  readonly input?: Json;
  /** What stands in place of the result. */
  readonly text?: string;
  /** What is stored by the tools of `offloadTools`, and where. Without a path it is the usual one. */
  readonly offload?: { readonly text: string; readonly path?: string };
}

/** A message of the assistant with the calls that are cleared, and their results, in the order of the calls. */
export interface ClearedRound {
  readonly assistant: Message;
  readonly calls: readonly ToolCall[];
  /** Nothing where a call has no result. */
  readonly results: readonly (Json | undefined)[];
}

export interface ToolReduction {
  /** Bytes that a result of this tool may have. */
  readonly maxLengthForTrunc?: number;
  readonly skipTruncation?: boolean;
  readonly skipClear?: boolean;
  /** The text in place of a result of this tool, or what becomes of the call. Nothing leaves the call as it is for now. */
  readonly clear?: (result: ClearedResult, ctx: HookContext) => MaybePromise<string | ClearedCall | undefined>;
}

export interface ReductionOptions {
  /** Leaves long results as they are. Then no worker middleware is needed. Default: false. */
  readonly skipTruncation?: boolean;
  /** Leaves old results where they are. Default: false. */
  readonly skipClear?: boolean;
  /** What the tool is called by which the model reads what was stored. Default: `read_file`. */
  readonly readFileToolName?: string;
  /** The first part of every path. Default: `offload`. */
  readonly rootDir?: string;
  /** Bytes that a result may have. Default: 50,000. */
  readonly maxLengthForTrunc?: number;
  readonly truncExcludeTools?: readonly string[];
  /** From so many tokens on old results are cleared. Default: 160,000. */
  readonly maxTokensForClear?: number;
  /** How many of the newest rounds of calls stay. Default: 1. */
  readonly clearRetentionSuffixLimit?: number;
  /** Nothing is cleared when fewer tokens than this would go. Default: 0. */
  readonly clearAtLeastTokens?: number;
  readonly clearExcludeTools?: readonly string[];
  /** Stores what is cleared, by the tools of `offloadTools`. Default: unless `skipTruncation`. */
  readonly offloadCleared?: boolean;
  /** Where a cleared result is stored. */
  readonly clearOffloadPath?: (call: ToolCall, ctx: HookContext) => string;
  /** Makes other messages of a round, instead of clearing its results. Nothing removes it. */
  readonly clearMessageRewriter?: (round: ClearedRound, ctx: HookContext) => MaybePromise<readonly Message[] | undefined>;
  /** Looks on when something was cleared. */
  readonly clearPostProcess?: (
    change: { readonly before: readonly Message[]; readonly after: readonly Message[] },
    ctx: HookContext,
  ) => MaybePromise<void>;
  /** Default: what the last answer reported, with an estimate of what came after it. */
  readonly tokenCounter?: TokenCounter;
  readonly toolConfig?: Readonly<Record<string, ToolReduction>>;
}

/** What has no meaning when a half of the work is left out. */
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
