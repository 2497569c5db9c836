import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { withdrawn } from '../../contract/interrupts';
import type { RunEvent, RunView } from '../../contract/events';
import { cameToNothing } from '../projection/came-to-nothing';
import { canonicalJson } from '../../contract/messages/messages';
import type { Json, Part } from '../../contract/messages/messages';
import { partsOf } from './content';
import { textGiven } from './given-results';
import { externalCallIn } from '../../contract/external-calls';
import type { ResumeEntry, ToolMessage, Wish } from './input';
import type { GivenAnswer } from './interrupts';
import { answerTo } from './interrupts';
import { sentAgainIdOf, sentIdOf } from './message-ids';

/** How a thread stands when a client comes. */
export interface Standing {
  readonly view: RunView | undefined;
  /** The log as far as the view goes. */
  log(): Promise<readonly RunEvent[]>;
}

/** What is done for a client, and from where on it is shown what comes of it. */
export type ThreadPlan =
  | Say
  | {
      readonly type: 'answer';
      readonly answers: readonly (GivenAnswer & { readonly interruptId: string })[];
      /** Results of calls that the client shows already. */
      readonly given: readonly ToolMessage[];
      readonly offset: number;
    }
  | { readonly type: 'history' };

interface Say {
  readonly type: 'say';
  readonly id: string;
  readonly content: string | readonly Part[];
  readonly by?: string;
  /** A turn has taken the message, or it waits for one. */
  readonly isSent: boolean;
  readonly offset: number;
}

/** Throws what a client is told with a status, before anything is shown. */
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
  const free = freeId(sent, said);
  const isKnown = queue.some((one) => one.id === free) || said.some((event) => event.type === 'message' && event.id === free);
  if (isKnown) return { ...say, id: free, isSent: true, offset: 0 };
  if (status === 'ended') return say;
  if (view.interrupts.length > 0) {
    const waiting = view.interrupts.map((interrupt) => `"${interrupt.id}"`).join(', ');
    throw new HoldfastError('interrupts-open', `The thread "${view.id}" waits for an answer to ${waiting}, and takes no message before.`);
  }
  if (status === 'working' || queue.length > 0)
    throw new HoldfastError('conversation-busy', `The thread "${view.id}" has a run that goes on: turn ${view.conversation.turn}.`);
  return { ...say, id: free };
}

/** The same message is one message, unless its turn came to nothing. */
function freeId(sent: string, log: readonly RunEvent[]): string {
  let free = sent;
  for (let nth = 2; cameToNothing(free, log); nth++) {
    const next = sentAgainIdOf(sent, nth);
    if (next === undefined) return free;
    free = next;
  }
  return free;
}

async function answersOf(entries: readonly ResumeEntry[], standing: Standing): Promise<ThreadPlan> {
  const open = (standing.view?.interrupts ?? []).filter((interrupt) => externalCallIn(interrupt) === undefined);
  const left = open.filter(({ id }) => !entries.some(({ interruptId }) => interruptId === id));
  const answers: (GivenAnswer & { readonly interruptId: string })[] = [];
  let offset = standing.view?.nextOffset ?? 0;
  for (const entry of entries) {
    const { interruptId } = entry;
    const interrupt = open.find(({ id }) => id === interruptId);
    if (interrupt !== undefined) answers.push({ interruptId, ...answerTo(interrupt, entry) });
    else offset = Math.min(offset, (await endOf(entry, standing)).offset);
  }
  // The same answers again show what came of them, whatever has been asked since.
  if (left.length > 0 && answers.length > 0) throw uncovered(left.map(({ id }) => id));
  return { type: 'answer', answers, given: [], offset };
}

function uncovered(ids: readonly string[]): HoldfastError {
  const waiting = ids.map((id) => `"${id}"`).join(', ');
  return new HoldfastError('interrupts-open', `\`resume\` must answer all that waits. It leaves out ${waiting}.`);
}

type InterruptEnd = Extract<RunEvent, { type: 'interrupt-end' }>;

/** How an interrupt ended that is open no more. The same answer again is harmless. */
async function endOf(entry: ResumeEntry, { log }: Standing): Promise<InterruptEnd> {
  const { interruptId } = entry;
  const events = await log();
  const end = events.filter((event): event is InterruptEnd => event.type === 'interrupt-end' && event.interruptId === interruptId).at(-1);
  const start = events.filter((event) => event.type === 'interrupt-start' && event.interrupt.id === interruptId).at(-1);
  if (end === undefined || start?.type !== 'interrupt-start')
    throw new HoldfastError('interrupt-unknown', `The thread has no interrupt "${interruptId}".`);
  // `cancelled` says that nobody answered. A client that keeps what has expired gets rid of it by no other word.
  if (entry.status === 'cancelled' && end.reason !== 'answer') return end;
  if (end.reason === 'deadline') throw new HoldfastError('interrupt-expired', `Nobody answered "${interruptId}" in time.`);
  return sameEnd(end, answerTo(start.interrupt, entry).answer);
}

function sameEnd(end: InterruptEnd, answer: Json): InterruptEnd {
  if (end.reason === 'cancel') throw new HoldfastError('interrupt-withdrawn', withdrawn(end.interruptId).message);
  if (end.reason !== 'answer' || canonicalJson(end.answer) !== canonicalJson(answer))
    throw new HoldfastError('interrupt-answered', `The interrupt "${end.interruptId}" was answered before.`);
  return end;
}

/** Results of calls that the client makes itself. Behind them may stand those of other calls, which the thread has in its log. */
async function resultsOf({ results, who }: Extract<Wish, { type: 'results' }>, { view, log }: Standing): Promise<ThreadPlan> {
  const given: ToolMessage[] = [];
  const answers: (GivenAnswer & { readonly interruptId: string })[] = [];
  const ends: number[] = [];
  const others: number[] = [];
  for (const message of results) {
    const { toolCallId, error } = message;
    const answer: Json = error === undefined ? { output: textGiven(message) } : { error };
    const interrupt = view?.interrupts.find((one) => externalCallIn(one)?.callId === toolCallId);
    const end = interrupt === undefined ? endOfCall(await log(), toolCallId) : undefined;
    if (interrupt !== undefined) answers.push({ interruptId: interrupt.id, answer, ...who });
    else if (end?.type === 'interrupt-end') ends.push(sameEnd(end, answer).offset);
    else if (end !== undefined) others.push(end.offset);
    else throw new HoldfastError('interrupt-unknown', `The thread waits for no result of the call "${toolCallId}".`);
    if (end?.type !== 'tool-end') given.push(message);
  }
  const shown = given.length > 0 ? ends : others;
  return { type: 'answer', answers, given, offset: Math.min(view?.nextOffset ?? 0, ...shown) };
}

/** Where a call got its result: from a client, or from the thread itself. */
function endOfCall(log: readonly RunEvent[], callId: string): RunEvent | undefined {
  const asked = log.filter((event) => event.type === 'interrupt-start' && externalCallIn(event.interrupt)?.callId === callId).at(-1);
  const id = asked?.type === 'interrupt-start' ? asked.interrupt.id : undefined;
  const given = log.filter((event) => event.type === 'interrupt-end' && event.interruptId === id).at(-1);
  return given ?? log.filter((event) => event.type === 'tool-end' && event.callId === callId).at(-1);
}
