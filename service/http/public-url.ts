import type { Context } from 'hono';
import { HoldfastError } from '../../contract/errors';
import type { ServiceParts } from '../parts';

type Addressed = Pick<ServiceParts, 'publicUrl' | 'hosts'>;

/** The address of the service, without a final slash: the configured URL, or the origin of the request with the scheme that a proxy names. */
export function publicUrl(parts: Addressed, { req }: Context): string {
  if (parts.publicUrl !== undefined) return parts.publicUrl.replace(/\/+$/, '');
  const { origin } = new URL(req.url);
  const [scheme = ''] = (req.header('x-forwarded-proto') ?? '').split(',');
  return scheme.trim() === 'https' ? origin.replace(/^http:/, 'https:') : origin;
}

/** The address for mails. A caller could choose the address of a request, except on loopback, where names are checked. */
export function mailedUrl(parts: Addressed, context: Context): string {
  if (parts.publicUrl === undefined && parts.hosts === undefined)
    throw new HoldfastError('config-invalid', 'Links need `http.publicUrl`, because the service listens for other machines.');
  return publicUrl(parts, context);
}
