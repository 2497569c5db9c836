import { withoutCredentials } from '../../contract/credentials';
import { messageOf } from '../../contract/errors';
import type { ToolOutcome } from '../../contract/record/wire';

const longestWords = 1000;

/** The outcome of a `once` tool that ended with an error when it was told to stop: it may have done its work before. */
export function cutOff(error: unknown): ToolOutcome {
  const said = withoutCredentials(messageOf(error)).slice(0, longestWords);
  return { type: 'unsettled', why: `it was told to stop while it worked, and ended with: ${said}` };
}
