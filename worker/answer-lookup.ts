import type { LoadedDataConverter, Payload } from '@temporalio/common';
import type { AnswerLookup } from '../activities/parts';
import { givenTime, isTime } from '../contract/given-time';
import type { Answer, Interrupt } from '../contract/interrupts';
import { latenessOf, refusalOf } from '../contract/interrupts';
import { names } from '../contract/names';
import type { ElsewhereAnswer } from '../contract/record/answers-elsewhere';
import type { FactEvent } from '../host/history/history-facts';
import { millisecondsOf } from '../host/history/history-facts';
import type { HistorySource } from '../host/history/history-pages';
import { newestPages } from '../host/history/history-pages';
import { keptPointIn } from '../host/history/kept-point';
import { PayloadReader } from '../host/history/payload-reader';

export function answerLookup(source: HistorySource<FactEvent>, converter: () => LoadedDataConverter): AnswerLookup {
  let made: PayloadReader | undefined;
  const payloads = (): PayloadReader => (made ??= new PayloadReader(converter()));
  return {
    async to({ workflowId, interrupts }) {
      const first = new Map<string, ElsewhereAnswer>();
      const refused = new Set<string>();
      for await (const events of newestPages(source, { workflowId })) {
        for (const event of events) {
          // Newest first: the end of an update comes before its content.
          const { meta, outcome } = event.workflowExecutionUpdateCompletedEventAttributes ?? {};
          if (outcome?.failure != null) refused.add(meta?.updateId ?? '');
          const input = inputOf(event, refused);
          if (input === undefined) continue;
          const sent = await payloads()
            .value(input)
            .catch(() => undefined);
          const { interruptId, at: given } = (sent ?? {}) as Partial<Answer>;
          const at = givenTime(isTime(given) ? given : undefined, millisecondsOf(event.eventTime));
          const interrupt = interrupts.find(({ id }) => id === interruptId);
          if (interrupt !== undefined && fits(interrupt, sent, event, at))
            first.set(interrupt.id, { ...sent, at: Math.min(at, (interrupt.deadline ?? Infinity) - 1) });
        }
      }
      return interrupts.map(({ id }) => first.get(id) ?? null);
    },

    pointOf: (workflowId) => keptPointIn(newestPages(source, { workflowId }), payloads()),
  };
}

function inputOf(event: FactEvent, refused: ReadonlySet<string>): Payload | undefined {
  const signal = event.workflowExecutionSignaledEventAttributes;
  if (signal?.signalName === names.answerSignal) return signal.input?.payloads?.[0] ?? undefined;
  const accepted = event.workflowExecutionUpdateAcceptedEventAttributes;
  const update = accepted?.acceptedRequest?.input;
  return update?.name === names.answerUpdate && !refused.has(accepted?.protocolInstanceId ?? '')
    ? (update.args?.payloads?.[0] ?? undefined)
    : undefined;
}

/** An update that the run accepted was in time, although the history notes it only at the end of a task. */
function fits(interrupt: Interrupt, sent: unknown, event: FactEvent, at: number): sent is Answer {
  const answer = sent as Answer;
  if (answer.answer === undefined) return false;
  const isSignal = event.workflowExecutionSignaledEventAttributes != null;
  return (!isSignal || latenessOf(interrupt, at) === undefined) && refusalOf(interrupt, answer, at) === undefined;
}
