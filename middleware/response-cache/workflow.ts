import { defined } from '../../contract/defined';
import { parseDuration } from '../../contract/duration';
import type { AgentMiddleware } from '../../kernel/define/middleware';
import { checkOptions, duration, filled } from '../../contract/check';

export interface ResponseCacheOptions {
  readonly name?: string;
  /** How old an answer may be, such as '1h'. Default: as old as the store keeps it. */
  readonly maxAge?: string;
  /** Part of the key: with another version no earlier answer fits. For changes that a request does not show, as of a tool's description. */
  readonly version?: string;
}

/** Gives the answer that the same request got before, without asking the model. Answers are kept on the worker. */
export function responseCache(options: ResponseCacheOptions = {}): AgentMiddleware {
  checkOptions('responseCache', options, { name: filled, maxAge: duration, version: filled });
  const { name = 'responseCache', maxAge, version } = options;
  const asked = { ...(maxAge === undefined ? {} : { maxAgeMs: parseDuration(maxAge) ?? 0 }), ...defined({ version }) };
  return { name, onWorker: { name: 'responseCache', options: asked } };
}
