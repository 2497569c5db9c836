import { ActivityFailure } from '@temporalio/workflow';
import { rootRunId } from '../contract/record/child-runs';
import type { Answer, Interrupt } from '../contract/interrupts';
import { interruptIdAt } from '../contract/interrupts';
import { names, workflowIdOf } from '../contract/names';
import type { AnswersElsewhere, ElsewhereAnswer } from '../contract/record/answers-elsewhere';
import type { StartInput } from '../contract/record/wire';
import type { ShortActivities } from './short-activities';
import { isCancellation } from '../kernel/effects/errors';

/** A worker reads a history again until it can: to pass over an answer would be to lose it. */
const attempts = 1000;
const timeoutMs = 30_000;

/**
 * Looks whether somebody has answered an isolated agent in time in the run that somebody started, which may not have handed the answer on yet.
 * Absent: there is no such run, or nothing is asked.
 */
export function findElsewhere(
  { tenant, id, parent }: StartInput,
  short: ShortActivities,
  interrupts: readonly Interrupt[],
  found: (answer: Answer) => void,
): Promise<void> | undefined {
  const path = parent?.path;
  if (path === undefined || interrupts.length === 0) return undefined;
  const there = interrupts.map((interrupt) => ({ ...interrupt, id: interruptIdAt(path, interrupt) }));
  const request: AnswersElsewhere = { workflowId: workflowIdOf(tenant, rootRunId(id)), interrupts: there };
  return short.urgent<readonly (ElsewhereAnswer | null)[]>('', names.elsewhereActivity, [request], timeoutMs, attempts).then(
    (answers) =>
      interrupts.forEach((interrupt, position) => {
        const answer = answers[position];
        if (answer != null) found({ ...answer, interruptId: interrupt.id, handedOn: true });
      }),
    (error: unknown) => {
      // The run is cancelled: no answer counts any more. A worker that lacks the activity fails the task, until one comes that has it.
      if (!isCancellation(error) && !(error instanceof ActivityFailure)) throw error;
    },
  );
}
