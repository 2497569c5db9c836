import { defined } from '../../contract/defined';
import { claimed } from '../data/identity';

/** Who acts, for requests that take no roles. */
export function byNow(): { readonly by?: string } {
  return defined({ by: (claimed.value as { readonly by?: string }).by });
}
