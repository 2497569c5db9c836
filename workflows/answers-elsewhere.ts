import { ActivityFailure } from '@temporalio/workflow';
import { rootRunId } from '../contract/record/child-runs';
import type { Answer, Interrupt } from '../contract/interrupts';
import { interruptIdAt } from '../contract/interrupts';
import { names, workflowIdOf } from '../contract/names';
import type { AnswersElsewhere, ElsewhereAnswer } from '../contract/record/answers-elsewhere';
import type { StartInput } from '../contract/record/wire';
import type { ShortActivities } from './short-activities';
import { isCancellation } from '../kernel/effects/errors';

/** A skipped answer would be lost, so reading repeats until success. */
const attempts = 1000;
const timeoutMs = 30_000;

/** Finds answers that the root run took in time and has not handed on. Undefined: no root run or no open question. */
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
      // Without the activity in a worker the task fails until a worker has it.
      if (!isCancellation(error) && !(error instanceof ActivityFailure)) throw error;
    },
  );
}
