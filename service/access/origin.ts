import { HoldfastError } from '../../contract/errors';
import { shown } from '../../contract/shown';

const safe = ['GET', 'HEAD', 'OPTIONS'];

/** For requests with a cookie, which a browser also adds to requests of pages of other sites. */
export function checkOrigin({ method, headers, url }: Request, publicUrl = url): void {
  if (safe.includes(method)) return;
  const own = new URL(publicUrl).origin;
  const origin = headers.get('origin');
  if (origin === null ? headers.get('sec-fetch-site') === 'same-origin' : origin === own) return;
  const from = origin === null ? 'without the header Origin' : `from a page of ${shown(origin)}`;
  throw new HoldfastError('origin-forbidden', `The request came ${from}; the service is ${own}.`);
}

/** For pages that send no origin, and for cookies of others: behind a proxy, the service may not know its own origin. */
export function checkSite({ method, headers }: Request): void {
  if (safe.includes(method) || (headers.get('sec-fetch-site') ?? 'same-origin') === 'same-origin') return;
  throw new HoldfastError('origin-forbidden', 'The request came from a page of another site.');
}
