import type { Json } from '../../contract/messages/messages';
import { isCancellation } from '../effects/errors';
import type { Frame } from '../effects/frames';
import { anotherQuestion, noteQuestion } from './asked-question';
import type { RunScope } from './scope';
import type { PendingInterrupt } from './state';

type Asking = Pick<RunScope, 'interrupts' | 'journal' | 'ports'>;

/**
 * Asks as an effect of a frame: where that ends before the answer, the question is withdrawn. Code that is entered again gets the answer only if it asks
 * the same question.
 */
export function askIn(run: Asking, frame: Frame, asked: (n: number) => PendingInterrupt, letGo?: () => void): Promise<Json> {
  return frame.effect(
    'interrupt',
    (n) => openIn(run, frame, n, asked(n), letGo),
    undefined,
    (n) => anotherQuestion(run, frame, n, () => asked(n).shown),
  );
}

function openIn({ interrupts, ports }: Asking, frame: Frame, n: number, asked: PendingInterrupt, letGo?: () => void): Promise<Json> {
  // What a cancelled run asks is shown to nobody, and may be another question when the run goes on.
  if (!ports.cancelled) noteQuestion(frame, n, asked.shown);
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
