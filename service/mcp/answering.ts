import { defined } from '../../contract/defined';
import { codeOf, messageOf } from '../../contract/errors';
import type { RunView } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import { whyNot } from '../../contract/who-may-answer';
import { actionForbidden } from '../../client/connection/authority';
import type { Run } from '../../client/index';
import { unless } from '../projection/answers';
import type { McpCaller } from './caller';
import { inTime } from './caller';
import { answerOfForm } from './forms';

/** The run once it ends or waits, or when the client should not wait any longer. */
export async function settled(run: Run, caller: McpCaller): Promise<RunView> {
  const { signal } = caller;
  for (;;) {
    for await (const _ of run.events({ until: 'waiting', deltas: false, signal }));
    const view = await inTime(caller, () => run.view());
    if (view.status !== 'running' || signal.aborted) return view;
  }
}

/** Answered or over in the meantime: what became of the run tells the client. */
const unlessOver = unless('interrupt-answered', 'interrupt-expired', 'interrupt-withdrawn', 'interrupt-unknown', 'run-ended');

export interface Given {
  readonly told: ReadonlySet<string>;
  readonly misfits: ReadonlyMap<string, string>;
}

export async function giveAnswers(
  run: Run,
  caller: McpCaller,
  responses: Readonly<Record<string, unknown>> = {},
  isAsked: (interrupt: Interrupt) => boolean = () => true,
): Promise<Given> {
  const { interrupts } = await inTime(caller, () => run.view());
  const told = new Set<string>();
  const misfits = new Map<string, string>();
  const give = async (interrupt: Interrupt): Promise<void> => {
    const answer = answerOfForm(interrupt, responses[interrupt.id]);
    const hash = interrupt.kind === 'approval' ? interrupt.inputHash : undefined;
    if (answer !== undefined) await inTime(caller, () => run.resume(interrupt.id, answer, defined({ inputHash: hash }))).catch(unlessOver);
    told.add(interrupt.id);
  };
  for (const interrupt of interrupts)
    if (Object.hasOwn(responses, interrupt.id) && isAsked(interrupt))
      await give(interrupt).catch((error: unknown) => {
        if (codeOf(error) !== 'answer-invalid') throw error;
        misfits.set(interrupt.id, messageOf(error));
      });
  return { told, misfits };
}

/** Questions that this caller may answer. Others wait for somebody else. */
export function questionsFor(caller: McpCaller, { status, interrupts }: Pick<RunView, 'status' | 'interrupts'>): readonly Interrupt[] {
  return status === 'waiting' ? interrupts.filter((interrupt) => whyClosed(caller, [interrupt]) === undefined) : [];
}

/** Why this caller may answer none of them. */
export function whyClosed({ client }: McpCaller, interrupts: readonly Interrupt[]): string | undefined {
  const { caller } = client;
  if (caller?.may.has('runs:answer') === false) return actionForbidden(caller, 'runs:answer').message;
  const reasons = interrupts.map((interrupt) => whyNot(interrupt, client.author({}), Date.now())?.message);
  return reasons.includes(undefined) ? undefined : reasons.join(' ');
}
