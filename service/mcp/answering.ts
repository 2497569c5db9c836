import { isRecord } from '../../contract/check';
import { defined } from '../../contract/defined';
import type { RunView } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import { mayAnswer } from '../../contract/who-may-answer';
import type { Run } from '../../client/index';
import { unless } from '../projection/answers';
import type { McpCaller } from './caller';
import { inTime } from './caller';
import { answerOfForm } from './forms';

/** A run is read while its client waits, and most clients wait for 60 s. */
const longestMs = 50_000;

/** The run once it ends or waits, or when the client should not wait any longer. */
export async function settled(run: Run, caller: McpCaller, mostMs = longestMs): Promise<RunView> {
  const until = AbortSignal.any([caller.signal, AbortSignal.timeout(mostMs)]);
  for (;;) {
    for await (const _ of run.events({ until: 'waiting', deltas: false, signal: until }));
    const view = await inTime(caller, () => run.view());
    if (view.status !== 'running' || until.aborted) return view;
  }
}

/** Answered or over in the meantime: what became of the run tells the client. */
const unlessOver = unless('interrupt-answered', 'interrupt-expired', 'interrupt-withdrawn', 'interrupt-unknown', 'run-ended');

/** Gives the answers that forms brought. Returns the ids of questions that are not asked again. */
export async function giveAnswers(
  run: Run,
  caller: McpCaller,
  given: unknown,
  isAsked: (interrupt: Interrupt) => boolean = () => true,
): Promise<ReadonlySet<string>> {
  const { interrupts } = await inTime(caller, () => run.view());
  const responses = isRecord(given) ? given : {};
  const told = interrupts.filter((interrupt) => Object.hasOwn(responses, interrupt.id) && isAsked(interrupt));
  for (const interrupt of told) {
    const answer = answerOfForm(interrupt, responses[interrupt.id]);
    if (answer === undefined) continue;
    const hash = interrupt.kind === 'approval' ? interrupt.inputHash : undefined;
    await inTime(caller, () => run.resume(interrupt.id, answer, defined({ inputHash: hash }))).catch(unlessOver);
  }
  return new Set(told.map(({ id }) => id));
}

/** Questions that this caller may answer. Others wait for somebody else. */
export function questionsFor({ client }: McpCaller, { status, interrupts }: Pick<RunView, 'status' | 'interrupts'>): readonly Interrupt[] {
  if (status !== 'waiting' || client.caller?.may.has('runs:answer') === false) return [];
  const who = client.author({});
  return interrupts.filter((interrupt) => mayAnswer(interrupt, who, Date.now()));
}
