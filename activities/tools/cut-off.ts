import { withoutCredentials } from '../../contract/credentials';
import { HoldfastError, messageOf } from '../../contract/errors';
import type { Effect } from '../../contract/manifest';
import { defined } from '../../contract/defined';
import type { CallToolInput, ToolOutcome } from '../../contract/record/wire';
import { lostToolCall, outOfTime } from '../../kernel/calls/lost-calls';

const longestWords = 1000;

/** A `once` tool that fails after a cancel may have done its work before. */
export function cutOff(error: unknown): ToolOutcome {
  const said = withoutCredentials(messageOf(error)).slice(0, longestWords);
  return { type: 'unsettled', why: `it was told to stop while it worked, and ended with: ${said}` };
}

/** Thrown by a tool whose work another process does: nobody knows whether the call took effect. */
export class LostAnswer extends HoldfastError {
  constructor(
    message: string,
    readonly timeoutMs?: number,
  ) {
    super(timeoutMs === undefined ? 'tool-failed' : 'tool-timeout', message);
  }
}

/** The server makes other calls than `once` again. */
export function lostAnswer(error: LostAnswer, input: CallToolInput, { effect }: { readonly effect?: Effect }): ToolOutcome {
  if (effect !== 'once') throw error;
  return error.timeoutMs === undefined ? { type: 'unsettled', why: error.message } : tooLate(input, error.timeoutMs);
}

/** As if the server's timer had been first. */
export function tooLate({ tool, reconcile }: CallToolInput, timeoutMs: number): ToolOutcome {
  const lost = { code: 'tool-timeout', message: outOfTime(tool, timeoutMs), tookTooLong: true };
  return lostToolCall({ facts: { effect: 'once' }, ...defined({ reconcile }) }, lost);
}
