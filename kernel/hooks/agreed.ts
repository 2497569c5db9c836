import type { ToolCall } from '../../contract/messages/messages';
import { canonicalJson } from '../../contract/messages/messages';
import type { Decided } from '../effects/tool-decision';

/** Note of a layer whose branch of a race asked a person, who agreed. */
export const agreed = 'agreed';

export function decidedOf({ inputHash, options }: ToolCall): Decided {
  return { hash: inputHash, options: options === undefined ? '' : canonicalJson(options) };
}
