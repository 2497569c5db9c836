import type { Usage } from '../../contract/messages/messages';
import type { ModelPrices } from '../../contract/prices';
import { costOf } from '../../contract/prices';
import type { RunCost } from '../../http/index';

const whole = new Intl.NumberFormat('en');
const thousands = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

/** A count as people read it: "1,234", "12.3k". */
export function numberText(count: number): string {
  return count < 10_000 ? whole.format(count) : `${thousands.format(count / 1_000)}k`;
}

export function costText(amount: number): string {
  return amount.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: amount < 1 ? 4 : 2 });
}

/** What a call has cost. Undefined: it has not said its tokens, or its model has no price. */
export function costOfCall(model: string | undefined, usage: Usage | undefined, prices: ModelPrices): RunCost | undefined {
  return model === undefined || usage === undefined ? undefined : costOf({ usageByModel: { [model]: usage } }, prices);
}
