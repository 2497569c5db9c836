import type { Author } from '../../../contract/access';
import { authorWithRoles } from '../../../contract/author';
import { givenTime } from '../../../contract/given-time';
import type { Answer } from '../../../contract/interrupts';
import type { Json } from '../../../contract/messages/messages';
import type { InterruptEnd } from './given-answers';
import type { Ports } from '../ports';
import type { PendingInterrupt, RunState } from '../state';

/** An answer counts not before its question and not later than now. */
export function timeOf({ interruptId, at }: Answer, { interrupts }: RunState, now: number): number {
  const { since = 0 } = interrupts.find(({ shown }) => shown.id === interruptId) ?? {};
  return Math.max(givenTime(at, now), since);
}

export function policyIn({ interrupts }: RunState, id: string): Pick<InterruptEnd, 'policy' | 'inputHash'> {
  const shown = interrupts.find((pending) => pending.shown.id === id)?.shown;
  if (shown?.kind !== 'approval' || shown.policy === undefined) return {};
  const { policy, inputHash } = shown;
  return { policy: { name: policy.name, version: policy.version }, inputHash };
}

/** The value for the asking code. Without `whole` the deadline has passed. */
export function toldOf({ tellsWho }: PendingInterrupt, answer: Json, whole: Author | undefined): Json {
  if (tellsWho !== true) return answer;
  if (whole === undefined) return { answer, expired: true };
  return { answer, ...authorWithRoles(whole) };
}

export function endOfAsking({ interrupts }: RunState, ports: Pick<Ports, 'now'>, id: string): InterruptEnd {
  const pending = interrupts.find(({ shown }) => shown.id === id);
  const isOver = pending?.isLimited === true && (pending.shown.deadline ?? Infinity) <= ports.now();
  return { answer: null, reason: isOver ? 'deadline' : 'cancel' };
}
