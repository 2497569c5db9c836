import type { Usage } from './messages/messages';
import { canonicalJson } from './messages/messages';

export type Uncounted = 'inputTokens' | 'outputTokens';

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

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0 };

export function lessUsage(sum: Usage, before: Usage): Usage {
  const cached = (sum.cachedInputTokens ?? 0) - (before.cachedInputTokens ?? 0);
  const reasoning = (sum.reasoningTokens ?? 0) - (before.reasoningTokens ?? 0);
  return {
    inputTokens: Math.max(0, sum.inputTokens - before.inputTokens),
    outputTokens: Math.max(0, sum.outputTokens - before.outputTokens),
    ...(cached > 0 ? { cachedInputTokens: cached } : {}),
    ...(reasoning > 0 ? { reasoningTokens: reasoning } : {}),
  };
}

export type UsageByModel = Readonly<Record<string, Usage>>;

export function addModelUsage(sums: UsageByModel, model: string, usage: Usage): UsageByModel {
  const before = Object.hasOwn(sums, model) ? sums[model] : undefined;
  return { ...sums, [model]: before === undefined ? usage : addUsage(before, usage) };
}

export function addUsageByModel(sums: UsageByModel, more: UsageByModel): UsageByModel {
  return Object.entries(more).reduce((all, [model, usage]) => addModelUsage(all, model, usage), sums);
}

export function lessUsageByModel(sums: UsageByModel, before: UsageByModel): UsageByModel {
  const left = Object.entries(sums).map(
    ([model, usage]) => [model, lessUsage(usage, (Object.hasOwn(before, model) ? before[model] : undefined) ?? noUsage)] as const,
  );
  return Object.fromEntries(left.filter(([, { inputTokens, outputTokens }]) => inputTokens + outputTokens > 0));
}

/** Usage by model in a history: the name alone if one model used everything. */
export type PackedByModel = UsageByModel | string;

export function packByModel(usage: Usage, byModel: UsageByModel): PackedByModel {
  const [only, ...others] = Object.entries(byModel);
  return only !== undefined && others.length === 0 && canonicalJson(only[1]) === canonicalJson(usage) ? only[0] : byModel;
}

export function unpackByModel(usage: Usage, packed: PackedByModel): UsageByModel {
  return typeof packed === 'string' ? { [packed]: usage } : packed;
}

export type ChildUsage = Usage & { readonly byModel: PackedByModel };

export function isTokenCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** Every call has a request and an answer, so the provider omitted a zero. */
export function uncountedIn({ inputTokens, outputTokens }: Usage): readonly Uncounted[] {
  return [...(inputTokens === 0 ? (['inputTokens'] as const) : []), ...(outputTokens === 0 ? (['outputTokens'] as const) : [])];
}
