import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { RunEvent, RunView } from '../../contract/events';
import type { InterruptEndEvent } from '../projection/answers';
import { askedIn, quoted, refuseOtherAnswer, takesNoMessage } from '../projection/answers';
import { freeId, queuedIn, saidIn } from '../projection/thread-log';
import type { Json, Part } from '../../contract/messages/messages';
import { partsOf } from './content';
import { textGiven } from './given-results';
import { externalCallIn } from '../../contract/external-calls';
import type { ResumeEntry, ToolMessage, Wish } from './input';
import type { GivenAnswer } from './interrupts';
import { answerTo } from './interrupts';
import { sentAgainIdOf, sentIdOf } from './message-ids';

export interface Standing {
  readonly view: RunView | undefined;
  log(): Promise<readonly RunEvent[]>;
}

export type ThreadPlan =
  | Say
  | {
      readonly type: 'answer';
      readonly answers: readonly PlannedAnswer[];
      readonly given: readonly ToolMessage[];
      readonly offset: number;
    }
  | { readonly type: 'history' };

type PlannedAnswer = GivenAnswer & { readonly interruptId: string };

interface Say {
  readonly type: 'say';
  readonly id: string;
  readonly content: string | readonly Part[];
  readonly by?: string;
  readonly isSent: boolean;
  readonly offset: number;
}

export async function planOf(wish: Wish, standing: Standing): Promise<ThreadPlan> {
  switch (wish.type) {
    case 'history':
      return { type: 'history' };
    case 'say':
      return sayOf(wish, standing);
    case 'answer':
      return answersOf(wish.entries, standing);
    case 'results':
      return resultsOf(wish, standing);
  }
}

async function sayOf({ id, content, by }: Extract<Wish, { type: 'say' }>, { view, log }: Standing): Promise<ThreadPlan> {
  const sent = sentIdOf(id);
  const say: Say = {
    type: 'say',
    id: sent,
    content: partsOf(content),
    isSent: false,
    offset: view?.nextOffset ?? 0,
    ...defined({ by }),
  };
  if (view?.conversation === undefined) return say;
  const { queue, status } = view.conversation;
  const said = await log();
  const free = freeId(sent, said, (nth) => sentAgainIdOf(sent, nth));
  if (queuedIn(view, free) !== undefined || saidIn(said, free) !== undefined) return { ...say, id: free, isSent: true, offset: 0 };
  if (status === 'ended') return say;
  const open = view.interrupts.map((interrupt) => interrupt.id);
  if (open.length > 0) throw takesNoMessage(`The thread "${view.id}"`, open);
  if (status === 'working' || queue.length > 0)
    throw new HoldfastError('conversation-busy', `The thread "${view.id}" has a run that goes on: turn ${view.conversation.turn}.`);
  return { ...say, id: free };
}

async function answersOf(entries: readonly ResumeEntry[], standing: Standing): Promise<ThreadPlan> {
  const open = (standing.view?.interrupts ?? []).filter((interrupt) => externalCallIn(interrupt) === undefined);
  const left = open.filter(({ id }) => !entries.some(({ interruptId }) => interruptId === id));
  const answers: PlannedAnswer[] = [];
  let offset = standing.view?.nextOffset ?? 0;
  for (const entry of entries) {
    const { interruptId } = entry;
    const interrupt = open.find(({ id }) => id === interruptId);
    if (interrupt !== undefined) answers.push({ interruptId, ...answerTo(interrupt, entry) });
    else offset = Math.min(offset, (await endOf(entry, standing)).offset);
  }
  // Repeated answers show their outcome, even if new interrupts are open.
  if (left.length > 0 && answers.length > 0)
    throw new HoldfastError('interrupts-open', `\`resume\` must answer all that waits. It leaves out ${quoted(left.map(({ id }) => id))}.`);
  return { type: 'answer', answers, given: [], offset };
}

/** A repeated answer has no effect. */
async function endOf(entry: ResumeEntry, { log }: Standing): Promise<InterruptEndEvent> {
  const { interruptId } = entry;
  const asked = askedIn(await log()).find(({ interrupt }) => interrupt.id === interruptId);
  if (asked?.end === undefined) throw new HoldfastError('interrupt-unknown', `The thread has no interrupt "${interruptId}".`);
  const { interrupt, end } = asked;
  // A client drops an expired interrupt only after sending `cancelled`.
  if (entry.status === 'cancelled' && end.reason !== 'answer') return end;
  refuseOtherAnswer(end, () => answerTo(interrupt, entry).answer);
  return end;
}

/** Results of other calls may follow, which the log has. */
async function resultsOf({ results, who }: Extract<Wish, { type: 'results' }>, { view, log }: Standing): Promise<ThreadPlan> {
  const given: ToolMessage[] = [];
  const answers: PlannedAnswer[] = [];
  const ends: number[] = [];
  const others: number[] = [];
  for (const message of results) {
    const { toolCallId, error } = message;
    const answer: Json = error === undefined ? { output: textGiven(message) } : { error };
    const interrupt = view?.interrupts.find((one) => externalCallIn(one)?.callId === toolCallId);
    const end = interrupt === undefined ? endOfCall(await log(), toolCallId) : undefined;
    if (interrupt !== undefined) answers.push({ interruptId: interrupt.id, answer, ...who });
    else if (end?.type === 'interrupt-end') refuseOtherAnswer(end, () => answer);
    else if (end === undefined) throw new HoldfastError('interrupt-unknown', `The thread waits for no result of the call "${toolCallId}".`);
    if (end?.type === 'tool-end') others.push(end.offset);
    else given.push(message);
    if (end?.type === 'interrupt-end') ends.push(end.offset);
  }
  const shown = given.length > 0 ? ends : others;
  return { type: 'answer', answers, given, offset: Math.min(view?.nextOffset ?? 0, ...shown) };
}

function endOfCall(log: readonly RunEvent[], callId: string): RunEvent | undefined {
  const asked = askedIn(log).filter(({ interrupt }) => externalCallIn(interrupt)?.callId === callId);
  return asked.at(-1)?.end ?? log.filter((event) => event.type === 'tool-end' && event.callId === callId).at(-1);
}
