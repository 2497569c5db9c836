import type { Json } from '../../contract/messages/messages';
import { isCancellation } from '../effects/errors';
import type { Frame } from '../effects/frames';
import type { OpenInterrupts } from './interrupts';
import type { PendingInterrupt } from './state';

/** Asks as the effect of a frame: where that ends before the answer, the question is withdrawn. */
export function openIn(
  { interrupts }: { readonly interrupts: OpenInterrupts },
  frame: Frame,
  n: number,
  asked: PendingInterrupt,
  letGo?: () => void,
): Promise<Json> {
  const answer = interrupts.open(limited(asked, frame.limit));
  const { decision } = frame;
  if (decision !== undefined) answer.catch((error: unknown) => (decision.isWithdrawn ||= isCancellation(error)));
  frame.opened(n, (error) => {
    interrupts.drop(asked.shown.id, error);
    if (error === undefined) letGo?.();
  });
  return answer;
}

/** Where the code that asks has less time than whoever is asked, all are shown when it ends. */
function limited(asked: PendingInterrupt, limit: number | undefined): PendingInterrupt {
  const { shown } = asked;
  return limit === undefined || limit >= (shown.deadline ?? Infinity) ? asked : { shown: { ...shown, deadline: limit }, isLimited: true };
}
