import type { Json } from '../../contract/messages/messages';
import { isCancellation } from '../effects/errors';
import type { Frame } from '../effects/frames';
import { anotherQuestion, noteQuestion } from './asked-question';
import type { RunScope } from './scope';
import type { PendingInterrupt } from './state';

type Asking = Pick<RunScope, 'interrupts' | 'journal' | 'ports'>;

/** Asks as an effect of a frame. The question is withdrawn with its frame. Re-entered code gets the answer only for the same question. */
export function askIn(run: Asking, frame: Frame, asked: (n: number) => PendingInterrupt, letGo?: () => void): Promise<Json> {
  return frame.effect(
    'interrupt',
    (n) => openIn(run, frame, n, asked(n), letGo),
    undefined,
    (n) => anotherQuestion(run, frame, n, () => asked(n).shown),
  );
}

function openIn({ interrupts, ports }: Asking, frame: Frame, n: number, asked: PendingInterrupt, letGo?: () => void): Promise<Json> {
  // Nobody sees a question of a cancelled run, and the resumed run may ask another.
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

/** If the asking code has less time than the people, the question shows the end of that code. */
function limited(asked: PendingInterrupt, limit: number | undefined): PendingInterrupt {
  const { shown } = asked;
  return limit === undefined || limit >= (shown.deadline ?? Infinity) ? asked : { shown: { ...shown, deadline: limit }, isLimited: true };
}
