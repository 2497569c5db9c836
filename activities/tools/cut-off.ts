import { withoutCredentials } from '../../contract/credentials';
import { messageOf } from '../../contract/errors';
import { defined } from '../../contract/defined';
import type { CallToolInput, ToolOutcome } from '../../contract/record/wire';
import { lostToolCall, outOfTime } from '../../kernel/calls/lost-calls';

const longestWords = 1000;

/** A `once` tool that fails after a cancel may have done its work before. */
export function cutOff(error: unknown): ToolOutcome {
  const said = withoutCredentials(messageOf(error)).slice(0, longestWords);
  return { type: 'unsettled', why: `it was told to stop while it worked, and ended with: ${said}` };
}

/** As if the server's timer had been first. */
export function tooLate({ tool, reconcile }: CallToolInput, timeoutMs: number): ToolOutcome {
  const lost = { code: 'tool-timeout', message: outOfTime(tool, timeoutMs), tookTooLong: true };
  return lostToolCall({ facts: { effect: 'once' }, ...defined({ reconcile }) }, lost);
}
