import type { ToolCall } from '../../contract/messages/messages';
import { canonicalJson } from '../../contract/messages/messages';
import type { Decided } from '../effects/tool-decision';

/** The note of a layer for which a branch of a race has asked a person, who agreed. */
export const agreed = 'agreed';

/** What people agree to who are asked about a call. */
export function decidedOf({ inputHash, options }: ToolCall): Decided {
  return { hash: inputHash, options: options === undefined ? '' : canonicalJson(options) };
}
