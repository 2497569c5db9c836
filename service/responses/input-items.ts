import { isRecord } from '../../contract/check';
import type { RunEvent } from '../../contract/events';
import { externalCallIn } from '../../contract/external-calls';
import { askedIn } from '../projection/answers';
import { textOfJson } from '../projection/content';
import { contentOfParts } from './content';
import type { ResponseRef } from './response-id';

export function inputItemsOf({ message, answers }: ResponseRef, log: readonly RunEvent[]): readonly object[] {
  const last = answers.at(-1);
  if (last === undefined)
    return log.flatMap((event) =>
      event.type === 'message' && event.id === message
        ? [{ id: event.message.id, type: 'message', role: 'user', status: 'completed', content: contentOfParts(event.message.parts) }]
        : [],
    );
  return askedIn(log).flatMap(({ interrupt, offset, end }): readonly object[] => {
    if (!last.includes(offset) || end === undefined) return [];
    const { id } = interrupt;
    const given = isRecord(end.answer) ? end.answer : {};
    const external = externalCallIn(interrupt);
    if (external !== undefined)
      return [
        { id: `${id}.output`, type: 'function_call_output', call_id: external.callId, output: textOfJson(given['output'] ?? end.answer) },
      ];
    if (interrupt.kind !== 'approval')
      return [
        {
          id: `${id}.answer`,
          type: 'message',
          role: 'user',
          status: 'completed',
          content: [{ type: 'input_text', text: textOfJson(end.answer) }],
        },
      ];
    const reason = given['comment'] ?? given['feedback'] ?? null;
    return [{ id: `${id}.response`, type: 'mcp_approval_response', approval_request_id: id, approve: given['type'] === 'approve', reason }];
  });
}
