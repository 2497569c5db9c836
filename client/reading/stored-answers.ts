import type { LoadedDataConverter } from '@temporalio/common';
import type { temporal } from '@temporalio/proto';
import type { RunView } from '../../contract/events';
import type { Answer, Interrupt } from '../../contract/interrupts';
import { isTime } from '../../contract/given-time';
import { latenessOf, refusalOf } from '../../contract/interrupts';
import { names } from '../../contract/names';
import type { FactEvent } from '../../host/history/history-facts';
import { millisecondsOf } from '../../host/history/history-facts';
import { PayloadReader } from '../../host/history/payload-reader';

type AnswerPayloads = temporal.api.common.v1.IPayloads;

/** An answer with the time at which somebody gave it. */
export type TimedAnswer = Answer & { readonly at: number };

/** Answers that stand in a history as signals and that no worker has taken yet. They are decoded only when somebody asks. */
export class StoredAnswers {
  private signals: { readonly at: number; readonly input: AnswerPayloads | null | undefined }[] = [];

  constructor(private readonly converter: LoadedDataConverter) {}

  add(event: FactEvent): void {
    const signal = event.workflowExecutionSignaledEventAttributes;
    if (signal?.signalName === names.answerSignal) this.signals.push({ at: millisecondsOf(event.eventTime), input: signal.input });
    // The code sees all signals that came before its task, and those that come during it are written behind it.
    else if (event.workflowTaskCompletedEventAttributes || event.workflowExecutionStartedEventAttributes) this.signals = [];
  }

  async read(): Promise<readonly TimedAnswer[]> {
    const answers: TimedAnswer[] = [];
    for (const { at, input } of this.signals) {
      const sent = await answerInSignal(this.converter, input);
      if (sent !== undefined) answers.push({ ...sent, at: isTime(sent.at) ? sent.at : at });
    }
    return answers;
  }
}

/** Whether a run will take an answer that it has not looked at yet. */
export function counts(interrupt: Interrupt, answer: TimedAnswer): boolean {
  return (
    answer.interruptId === interrupt.id &&
    latenessOf(interrupt, answer.at) === undefined &&
    refusalOf(interrupt, answer, answer.at) === undefined
  );
}

/** An answer that the run will take as soon as a worker looks is an answer: nobody has to give another one. */
export function withoutAnswered(view: RunView, stored: readonly TimedAnswer[]): RunView {
  if (stored.length === 0) return view;
  const isOpen = (interrupt: Interrupt): boolean => !stored.some((answer) => counts(interrupt, answer));
  return { ...view, interrupts: view.interrupts.filter(isOpen) };
}

/** What somebody sent as an answer, if it is one. */
async function answerInSignal(converter: LoadedDataConverter, input: AnswerPayloads | null | undefined): Promise<Answer | undefined> {
  const [payload] = input?.payloads ?? [];
  const sent = payload === undefined ? undefined : await new PayloadReader(converter).value(payload).catch(() => undefined);
  return isAnswer(sent) ? sent : undefined;
}

function isAnswer(sent: unknown): sent is Answer {
  const { interruptId, answer } = (sent ?? {}) as Partial<Record<keyof Answer, unknown>>;
  return typeof interruptId === 'string' && answer !== undefined;
}
