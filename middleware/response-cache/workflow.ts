import { defined } from '../../contract/defined';
import { parseDuration } from '../../contract/duration';
import type { AgentMiddleware } from '../../kernel/define/middleware';
import { checkedOptions, isText, nameForm, optional } from '../checked-options';

export interface ResponseCacheOptions {
  readonly name?: string;
  /** How old an answer may be, such as '1h'. Default: as old as the store keeps it. */
  readonly maxAge?: string;
  /** Part of the key: with another version no earlier answer fits. For changes that a request does not show, as of a tool's description. */
  readonly version?: string;
}

/** The name under which every worker has the other half. */
export const responseCacheHalf = 'responseCache';

/** Gives the answer that the same request got before, without asking the model. Answers are kept on the worker. */
export function responseCache(options: ResponseCacheOptions = {}): AgentMiddleware {
  checkedOptions('responseCache', options, {
    name: nameForm,
    maxAge: [optional((value) => isText(value) && parseDuration(value) !== undefined), 'a duration, for example "1h"'],
    version: [optional(isText), 'a text'],
  });
  const { name = 'responseCache', maxAge, version } = options;
  const half = { ...(maxAge === undefined ? {} : { maxAgeMs: parseDuration(maxAge) ?? 0 }), ...defined({ version }) };
  return { name, half: { name: responseCacheHalf, options: half } };
}
