import type { ToolRunCall } from '../../http/index';
import { same } from '../../contract/middleware-changes';
import type { Message } from '../../contract/messages/messages';
import { toolMessage } from '../../contract/messages/messages';

/** The result of a call: what the model saw, once the run has gone on, and what the tool gave, where that is not the same. */
export function resultsOf({ callId, tool, response = {} }: ToolRunCall): { readonly seen?: Message; readonly given?: Message } {
  const { outcome, message } = response;
  const seen = message === undefined ? {} : { seen: message };
  if (outcome?.type !== 'done') return seen;
  const given = toolMessage('', { id: callId, name: tool }, outcome.output, { multipart: outcome.multipart === true });
  return same(given.parts, message?.parts) ? seen : { ...seen, given };
}
