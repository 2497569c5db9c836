import { authorWithRoles } from '../contract/author';
import { isTime } from '../contract/given-time';
import type { Answer } from '../contract/interrupts';
import { jsonSize, limits } from '../contract/limits';
import type { Json } from '../contract/messages/messages';
import { notJson } from '../contract/messages/messages';

const longestId = 1000;

/** Signals may have any content. An invalid answer leaves an event. */
export function answerIn(sent: unknown): Answer {
  const { interruptId, answer, by, roles, proof, inputHash, delivery, at, handedOn } = (
    typeof sent === 'object' && sent !== null ? sent : {}
  ) as Partial<Record<keyof Answer, unknown>>;
  const isAnswer =
    typeof interruptId === 'string' &&
    interruptId.length <= longestId &&
    answer !== undefined &&
    // A deeply nested value would fail recursive code, and so the task, for ever.
    notJson(answer) === undefined &&
    jsonSize(answer) <= limits.runInput;
  if (!isAnswer) return { interruptId: '', answer: null };
  return {
    interruptId,
    answer: answer as Json,
    ...authorWithRoles({ by, roles, proof }),
    ...(inputHash === undefined ? {} : { inputHash: typeof inputHash === 'string' ? inputHash : 'no hash' }),
    ...(typeof delivery === 'string' ? { delivery: delivery.slice(0, 100) } : {}),
    ...(isTime(at) ? { at } : {}),
    ...(handedOn === true ? { handedOn } : {}),
  };
}
