import type { RunCost } from './service';
import { defined } from './defined';
import type { RunView } from './events';
import type { Usage } from './messages/messages';

/** The price of a million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Input from the provider's cache. Default: the price of `input`. */
  readonly cachedInput?: number;
}

/** Prices by model, such as `openai/gpt-…`. */
export type ModelPrices = Readonly<Record<string, ModelPrice>>;

const million = 1_000_000;

/** Undefined: no used model has a price. */
export function costOf({ usageByModel = {} }: Pick<RunView, 'usageByModel'>, prices: ModelPrices): RunCost | undefined {
  const models = Object.entries(usageByModel);
  const priced = models.flatMap(([model, used]) => {
    const price = Object.hasOwn(prices, model) ? prices[model] : undefined;
    return price === undefined ? [] : [costOfModel(used, price)];
  });
  if (priced.length === 0) return undefined;
  const unpriced = models.flatMap(([model]) => (Object.hasOwn(prices, model) ? [] : [model]));
  // Sums of fractions have meaningless digits.
  const amount = Number(priced.reduce((sum, cost) => sum + cost, 0).toFixed(9));
  return { amount, complete: unpriced.length === 0, ...defined({ unpriced: unpriced.length === 0 ? undefined : unpriced }) };
}

function costOfModel({ inputTokens, outputTokens, cachedInputTokens = 0 }: Usage, price: ModelPrice): number {
  const { input, output, cachedInput = input } = price;
  return (Math.max(0, inputTokens - cachedInputTokens) * input + cachedInputTokens * cachedInput + outputTokens * output) / million;
}
