import type { LoadedDataConverter } from '@temporalio/common';
import { decodeFromPayloadsAtIndex } from '@temporalio/common/lib/internal-non-workflow';
import type { temporal } from '@temporalio/proto';
import type { RunView } from '../contract/plain/events';
import type { Answer, Interrupt } from '../contract/plain/interrupts';
import { refusalOf } from '../contract/plain/interrupts';
import { names } from '../contract/plain/names';

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;
type Payloads = temporal.api.common.v1.IPayloads;

/** Answers that stand in a history as signals and that no worker has taken yet. They are decoded only when somebody asks. */
export class StoredAnswers {
  private signals: (Payloads | null | undefined)[] = [];

  constructor(private readonly converter: LoadedDataConverter) {}

  add(event: HistoryEvent): void {
    const signal = event.workflowExecutionSignaledEventAttributes;
    if (signal?.signalName === names.resumeSignal) this.signals.push(signal.input);
    // The code sees all signals that came before its task, and those that come during it are written behind it.
    else if (event.workflowTaskCompletedEventAttributes || event.workflowExecutionStartedEventAttributes) this.signals = [];
  }

  async read(): Promise<readonly Answer[]> {
    const answers: Answer[] = [];
    for (const signal of this.signals) {
      const sent = await decodeFromPayloadsAtIndex(this.converter, 0, signal?.payloads).catch(() => undefined);
      if (isAnswer(sent)) answers.push(sent);
    }
    return answers;
  }
}

/** An answer that the run will take as soon as a worker looks is an answer: nobody has to give another one. */
export function withoutAnswered(view: RunView, stored: readonly Answer[]): RunView {
  if (stored.length === 0) return view;
  const isOpen = (interrupt: Interrupt): boolean =>
    !stored.some((answer) => answer.interruptId === interrupt.id && refusalOf(interrupt, answer) === undefined);
  return { ...view, interrupts: view.interrupts.filter(isOpen) };
}

function isAnswer(sent: unknown): sent is Answer {
  const { interruptId, answer } = (sent ?? {}) as Partial<Record<keyof Answer, unknown>>;
  return typeof interruptId === 'string' && answer !== undefined;
}
