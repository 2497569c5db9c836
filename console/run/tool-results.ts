import type { ToolRunCall } from '../../client/http/index';
import { same } from '../../contract/middleware-changes';
import type { Message } from '../../contract/messages/messages';
import { toolMessage } from '../../contract/messages/messages';

/** `given`: the tool's result where middleware changed the result. */
export function resultsOf({ callId, tool, response = {} }: ToolRunCall): { readonly seen?: Message; readonly given?: Message } {
  const { outcome, message } = response;
  const seen = message === undefined ? {} : { seen: message };
  if (outcome?.type !== 'done') return seen;
  const given = toolMessage('', { id: callId, name: tool }, outcome.output, { multipart: outcome.multipart === true });
  return same(given.parts, message?.parts) ? seen : { ...seen, given };
}
