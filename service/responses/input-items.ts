import { isRecord } from '../../contract/check';
import type { RunEvent } from '../../contract/events';
import { externalCallIn } from '../../contract/external-calls';
import { askedIn } from '../projection/answers';
import { textOfJson } from '../projection/content';
import { saidIn } from '../projection/thread-log';
import { contentOfParts } from './content';
import type { ResponseRef } from './response-id';

export function inputItemsOf({ message, answers }: ResponseRef, log: readonly RunEvent[]): readonly object[] {
  const last = answers.at(-1);
  if (last === undefined) {
    const said = saidIn(log, message)?.message;
    return said === undefined ? [] : [userItem(said.id, contentOfParts(said.parts))];
  }
  return askedIn(log).flatMap(({ interrupt, offset, end }): readonly object[] => {
    if (!last.includes(offset) || end === undefined) return [];
    const { id } = interrupt;
    const given = isRecord(end.answer) ? end.answer : {};
    const external = externalCallIn(interrupt);
    if (external !== undefined)
      return [
        { id: `${id}.output`, type: 'function_call_output', call_id: external.callId, output: textOfJson(given['output'] ?? end.answer) },
      ];
    if (interrupt.kind !== 'approval') return [userItem(`${id}.answer`, [{ type: 'input_text', text: textOfJson(end.answer) }])];
    const reason = given['comment'] ?? given['feedback'] ?? null;
    return [{ id: `${id}.response`, type: 'mcp_approval_response', approval_request_id: id, approve: given['type'] === 'approve', reason }];
  });
}

function userItem(id: string, content: readonly object[]): object {
  return { id, type: 'message', role: 'user', status: 'completed', content };
}
