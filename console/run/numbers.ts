import type { Usage } from '../../contract/messages/messages';
import type { ModelPrices } from '../../contract/prices';
import { costOf } from '../../contract/prices';
import type { RunCost } from '../../client/http/index';

const whole = new Intl.NumberFormat('en');
const thousands = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

/** Such as "1,234" or "12.3k". */
export function numberText(count: number): string {
  return count < 10_000 ? whole.format(count) : `${thousands.format(count / 1_000)}k`;
}

export function costText(amount: number): string {
  return amount.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: amount < 1 ? 4 : 2 });
}

export function costOfCall(model: string | undefined, usage: Usage | undefined, prices: ModelPrices): RunCost | undefined {
  return model === undefined || usage === undefined ? undefined : costOf({ usageByModel: { [model]: usage } }, prices);
}
