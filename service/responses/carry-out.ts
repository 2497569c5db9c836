import { randomBytes } from 'node:crypto';
import type { ClientTool } from '../../contract/client-tools';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { RunEvent, RunView } from '../../contract/events';
import { canonicalJson } from '../../contract/messages/messages';
import type { Json, Part, StoredMessage } from '../../contract/messages/messages';
import { isRunId } from '../../contract/names';
import type { HoldfastClient } from '../../client/index';
import type { AskedInLog } from '../projection/answers';
import { askedIn, quoted, unless } from '../projection/answers';
import { hashOf, onlyText } from '../projection/content';
import type { Thread } from '../projection/thread';
import { keptFor, threadOf } from '../projection/thread';
import { cameToNothing, freeId, logBetween, queuedIn, saidIn } from '../projection/thread-log';
import type { PlannedAnswer } from './answers';
import { answerInMessage, answersTo } from './answers';
import type { ResponseNote } from './note';
import { noteIn, withNote } from './note';
import type { CreateBody, ResponseWish } from './request';
import { toolsIn, wishOf } from './request';
import type { ResponseRef } from './response-id';
import { isResponseMessage, messageIdOf, offsetOf, refOf, responseIdOf, unknownResponse } from './response-id';

interface CarriedOut {
  readonly thread: Thread;
  readonly ref: ResponseRef;
  readonly facts: ResponseNote;
}

type Saying = Extract<ResponseWish, { type: 'say' }>;

/** `key`: a repeated request has the same response. */
export async function carryOut(
  client: HoldfastClient,
  body: CreateBody,
  key: string | undefined,
  signal: AbortSignal,
): Promise<CarriedOut> {
  const wish = wishOf(body);
  const { model, previous_response_id: previous } = body;
  if (previous === null || previous === undefined) return begin(client, body, wish as Saying, { key, signal });
  const before = refOf(previous);
  const thread = threadOf(client, model, before.conversation);
  const view = await thread.view();
  const log = view === undefined ? [] : await logBetween(thread, offsetOf(before), view.nextOffset, signal);
  if (view === undefined || storedMessage(before.message, view, log) === undefined) throw unknownResponse(previous);
  const begins = saidIn(log, before.message)?.offset ?? offsetOf(before);
  const going: GoingOn = { thread, body, before, view, log, begins };
  return wish.type === 'say' ? say(going, wish, key) : answer(going, wish);
}

async function begin(
  client: HoldfastClient,
  body: CreateBody,
  { content, before }: Saying,
  { key, signal }: { readonly key: string | undefined; readonly signal: AbortSignal },
): Promise<CarriedOut> {
  const { model, metadata, by } = body;
  const runId = metadata?.['run_id'];
  const made = `resp-${key === undefined ? randomBytes(10).toString('hex') : hashOf(canonicalJson([model, key]), 20)}`;
  const conversation = runId !== undefined && runId === key && isRunId(runId) ? runId : made;
  const message = messageIdOf(0, key ?? conversation);
  const thread = threadOf(client, model, conversation, { idle: keptFor, ...(before.length === 0 ? {} : { messages: before }) });
  const ref = { conversation, message, answers: [] };
  const view = key === undefined ? undefined : await thread.view();
  const known = view === undefined ? undefined : storedMessage(message, view, await logBetween(thread, 0, view.nextOffset, signal));
  if (known !== undefined) {
    refuseOtherContent(known, content, message);
    return { thread, ref, facts: noteIn(known) };
  }
  if ((view?.conversation?.turn ?? 0) > 0 || (view?.conversation?.queue.length ?? 0) > 0)
    throw new HoldfastError('run-id-in-use', `The id "${conversation}" belongs to a conversation that no request with this key began.`);
  await thread.send(withNote(content, noteOf(body)), { id: message, ...defined({ by, tools: toolsOf(body) }) });
  return { thread, ref, facts: noteOf(body) };
}

interface GoingOn {
  readonly thread: Thread;
  readonly body: CreateBody;
  readonly before: ResponseRef;
  readonly view: RunView;
  /** Since the earlier response's message. */
  readonly log: readonly RunEvent[];
  readonly begins: number;
}

async function say(going: GoingOn, { content }: Saying, key: string | undefined): Promise<CarriedOut> {
  const { thread, body, before, view, log, begins } = going;
  const first = messageIdOf(begins, canonicalJson([responseIdOf(before), key ?? (content as unknown as Json)]));
  const message = key === undefined ? freeId(first, log, (nth) => `${first}-${nth}`) : first;
  const known = storedMessage(message, view, log);
  if (known !== undefined) {
    refuseOtherContent(known, content, message);
    return { thread, ref: { conversation: thread.id, message, answers: [] }, facts: noteIn(known) };
  }
  const open = view.interrupts.map(({ id }) => id);
  const words = answerInMessage(askedByResponse(going), { text: onlyText(content), open });
  if (words !== undefined) return give(going, [words]);
  refuseBranch(going, first);
  const { by } = body;
  await thread.send(withNote(content, noteOf(body)), { id: message, ...defined({ by, tools: toolsOf(body) }) });
  await refuseLater(going, { message, first });
  return { thread, ref: { conversation: thread.id, message, answers: [] }, facts: noteOf(body) };
}

/** Of two simultaneous messages the first counts. The second is withdrawn, unless a turn has taken the message. */
async function refuseLater(going: GoingOn, { message, first }: { readonly message: string; readonly first: string }): Promise<void> {
  const { thread, before } = going;
  const view = await thread.view();
  if (view === undefined) return;
  const log = await logBetween(thread, offsetOf(before), view.nextOffset, AbortSignal.timeout(lookMs));
  const [rival] = rivals({ ...going, view, log }, first).filter((id) => id !== message);
  if (rival === undefined || linedUp(log, view).indexOf(rival) > linedUp(log, view).indexOf(message)) return;
  await thread.withdraw(message).then(() => {
    throw outdated(thread, rival);
  }, unless('message-unknown'));
}

const lookMs = 5000;

function linedUp(log: readonly RunEvent[], view: RunView): readonly string[] {
  return [...log.flatMap((event) => (event.type === 'message' ? [event.id] : [])), ...(view.conversation?.queue.map(({ id }) => id) ?? [])];
}

function storedMessage(id: string, view: RunView, log: readonly RunEvent[]): StoredMessage | undefined {
  return saidIn(log, id)?.message ?? queuedIn(view, id);
}

function refuseOtherContent({ parts }: StoredMessage, content: readonly Part[], id: string): void {
  const plain = (given: readonly Part[]): string => canonicalJson(given.map((part) => ({ ...part, extra: undefined })));
  if (plain(parts) === plain(content)) return;
  throw new HoldfastError('run-id-in-use', `A request with this key had another input (message "${id}"). Use another key.`);
}

function askedByResponse({ before, log, begins }: GoingOn): readonly AskedInLog[] {
  const asked = askedIn(log);
  const answered = before.answers.flat();
  const last = before.answers.at(-1) ?? [];
  const begin = Math.max(begins, ...asked.filter(({ offset }) => last.includes(offset)).map(({ end }) => end?.offset ?? Infinity));
  const isEnd = (event: RunEvent): boolean =>
    event.type === 'turn-end' ||
    (event.type === 'interrupt-end' &&
      event.reason === 'answer' &&
      asked.some(({ interrupt, offset }) => interrupt.id === event.interruptId && !answered.includes(offset)));
  const end = log.find((event) => event.offset > begin && isEnd(event))?.offset ?? Infinity;
  return asked.filter(
    (one) => one.offset < end && !answered.includes(one.offset) && (one.end === undefined || one.end.offset >= Math.min(begin, end)),
  );
}

/** A conversation has no branches, so later messages would be in the new response's context. */
function refuseBranch(going: GoingOn, first: string): void {
  const message = rivals(going, first).at(-1);
  if (message !== undefined) throw outdated(going.thread, message);
}

function rivals({ before, log, view }: GoingOn, first: string): readonly string[] {
  return linedUp(log, view)
    .filter(isResponseMessage)
    .filter((id) => id !== before.message && !id.startsWith(first) && !cameToNothing(id, log));
}

function outdated({ id: conversation }: Thread, message: string): HoldfastError {
  const last = responseIdOf({ conversation, message, answers: [] });
  return new HoldfastError('response-outdated', `The conversation has gone on with the response "${last}".`);
}

async function answer(going: GoingOn, wish: Extract<ResponseWish, { type: 'answer' }>): Promise<CarriedOut> {
  const asked = askedIn(going.log);
  if (wish.approvals.length > 0 || wish.results.length > 0) return give(going, answersTo(asked, wish));
  const known = going.before.answers.flat();
  const elsewhere = asked.filter(({ offset, end }) => end?.reason === 'answer' && !known.includes(offset));
  if (elsewhere.length > 0)
    return answeredWith(
      going,
      elsewhere.map(({ offset }) => offset),
    );
  const open = going.view.interrupts.map(({ id }) => id);
  if (open.length > 0) throw new HoldfastError('interrupts-open', `The conversation waits for an answer to ${quoted(open)}.`);
  throw new HoldfastError('request-invalid', 'The input is missing: nothing waits for an answer.');
}

async function give(going: GoingOn, answers: readonly PlannedAnswer[]): Promise<CarriedOut> {
  const { thread, body, view } = going;
  const { by, roles } = body;
  for (const { asked, answer: given } of answers) {
    const open = view.interrupts.find(({ id }) => id === asked.interrupt.id);
    if (asked.end !== undefined || open === undefined) continue;
    const inputHash = open.kind === 'approval' ? open.inputHash : undefined;
    await thread.answer(open.id, given, defined({ by, roles, inputHash }));
  }
  return answeredWith(
    going,
    answers.map(({ asked }) => asked.offset),
  );
}

function answeredWith({ thread, before, log }: GoingOn, offsets: readonly number[]): CarriedOut {
  const answers = [...before.answers, [...new Set(offsets)].sort((a, b) => a - b)];
  const said = saidIn(log, before.message);
  const facts = said === undefined ? {} : noteIn(said.message);
  return { thread, ref: { conversation: thread.id, message: before.message, answers }, facts };
}

function toolsOf(body: CreateBody): readonly ClientTool[] | undefined {
  const tools = toolsIn(body);
  return tools.length === 0 ? undefined : tools;
}

function noteOf({ metadata, previous_response_id: previous }: CreateBody): ResponseNote {
  return defined({ metadata: metadata ?? undefined, previous: previous ?? undefined });
}
