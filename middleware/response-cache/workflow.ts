import { defined } from '../../contract/defined';
import { parseDuration } from '../../contract/duration';
import type { AgentMiddleware } from '../../kernel/define/middleware';
import { checkOptions, duration, filled } from '../../contract/check';

export interface ResponseCacheOptions {
  readonly name?: string;
  /** Such as '1h'. Default: as long as the store keeps answers. */
  readonly maxAge?: string;
  /** Part of the key, for changes that a request does not show, such as a tool's description. */
  readonly version?: string;
}

/**
 * Repeats an equal request's answer. Answers stay on the worker.
 * @example
 * export const faq = defineAgent({
 *   name: 'faq',
 *   description: 'Answers frequent questions.',
 *   instructions: 'Answer briefly.',
 *   model: 'default',
 *   tools: [],
 *   middleware: [responseCache({ maxAge: '1d' })],
 * });
 */
export function responseCache(options: ResponseCacheOptions = {}): AgentMiddleware {
  checkOptions('responseCache', options, { name: filled, maxAge: duration, version: filled });
  const { name = 'responseCache', maxAge, version } = options;
  const asked = { ...(maxAge === undefined ? {} : { maxAgeMs: parseDuration(maxAge) ?? 0 }), ...defined({ version }) };
  return { name, onWorker: { name: 'responseCache', options: asked } };
}
