import type { Usage } from './messages';

/** The tokens of two calls together, with the counts that a provider gives. */
export function addUsage(sum: Usage, usage: Usage): Usage {
  const cached = (sum.cachedInputTokens ?? 0) + (usage.cachedInputTokens ?? 0);
  const reasoning = (sum.reasoningTokens ?? 0) + (usage.reasoningTokens ?? 0);
  return {
    inputTokens: sum.inputTokens + usage.inputTokens,
    outputTokens: sum.outputTokens + usage.outputTokens,
    ...(cached > 0 ? { cachedInputTokens: cached } : {}),
    ...(reasoning > 0 ? { reasoningTokens: reasoning } : {}),
  };
}
