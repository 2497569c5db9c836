import type { ModelPrices } from '../../contract/prices';
import type { ServiceParts } from './app';

/** The prices that the service has now. */
export function pricesIn({ prices }: Pick<ServiceParts, 'prices'>): ModelPrices {
  return (typeof prices === 'function' ? prices() : prices) ?? {};
}
