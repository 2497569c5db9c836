import type { AgentMiddleware, AgentState, HookContext } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';
import { contextTokens, countedTokens } from '../token-count';
import { clearedMessages } from './clear';
import type { ReductionOptions } from './options';
import { checkedReduction, offloadsCleared } from './options';
import type { TruncationOptions } from './plain';
import { offloadToolName, reductionName } from './plain';

/**
 * Keeps tool results short: the worker cuts long results at once, and the workflow clears old results for good.
 * @example
 * export const shorter = reduction({
 *   maxLengthForTrunc: 20_000,
 *   clearExcludeTools: ['findOrder'],
 * });
 */
export function reduction(options?: ReductionOptions): AgentMiddleware {
  const checked = checkedReduction(options);
  const {
    skipTruncation = false,
    skipClear = false,
    maxTokensForClear = 160_000,
    tokenCounter = contextTokens,
    clearPostProcess,
  } = checked;
  const middleware: AgentMiddleware = {
    name: 'reduction',
    ...(skipTruncation ? {} : { onWorker: { name: reductionName, options: truncationOf(checked) } }),
    ...(offloadsCleared(checked) ? { callsTools: [offloadToolName] } : {}),
    ...(skipClear ? {} : { beforeModelRewriteState: clearing }),
  };
  const { truncExcludeTools: names = [], clearExcludeTools = [], toolConfig = {} } = checked;
  return withTraits(middleware, {
    isNumbered: true,
    offersTools: [],
    namesTools: names,
    remembersTools: [...clearExcludeTools, ...Object.keys(toolConfig)],
  });

  async function clearing(state: AgentState, ctx: HookContext): Promise<Partial<AgentState> | undefined> {
    if (countedTokens('reduction', tokenCounter, state, ctx) < maxTokensForClear) return undefined;
    const { messages: before } = state;
    const after = await clearedMessages(before, checked, ctx);
    if (after === undefined) return undefined;
    await clearPostProcess?.({ before, after }, ctx);
    return { messages: after };
  }
}

function truncationOf(options: ReductionOptions): TruncationOptions {
  const {
    rootDir = 'offload',
    readFileToolName = 'read_file',
    maxLengthForTrunc = 50_000,
    truncExcludeTools = [],
    toolConfig = {},
  } = options;
  const configs = Object.entries(toolConfig);
  return {
    rootDir,
    readFileToolName,
    maxLength: maxLengthForTrunc,
    exclude: [...truncExcludeTools, ...configs.flatMap(([tool, { skipTruncation }]) => (skipTruncation === true ? [tool] : []))],
    maxLengths: Object.fromEntries(
      configs.flatMap(([tool, { maxLengthForTrunc: most }]) => (most === undefined ? [] : [[tool, most] as const])),
    ),
  };
}
