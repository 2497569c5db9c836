import { messageOfSent } from '../../contract/conversations';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { RunView } from '../../contract/events';
import { canonicalJson } from '../../contract/messages/messages';
import type { Part, StoredMessage } from '../../contract/messages/messages';
import { externalCallIn } from '../../contract/external-calls';
import { askedIn, decisionOf, takesNoMessage, unless } from '../projection/answers';
import { hashOf } from '../projection/content';
import type { Thread } from '../projection/thread';
import { logBetween, queuedIn, saidIn } from '../projection/thread-log';
import type { ChatBody, ChatWish } from './request';
import { wishOf } from './request';
import type { ShownTurn } from './turn-stream';

export function carryOut(chat: Thread, body: ChatBody, signal: AbortSignal): Promise<ShownTurn> {
  const wish = wishOf(body);
  return wish.type === 'say' ? say({ chat, body, signal }, wish) : answer({ chat, body, signal }, wish);
}

interface Posted {
  readonly chat: Thread;
  readonly body: ChatBody;
  readonly signal: AbortSignal;
}

async function say(posted: Posted, { id, content, again }: Extract<ChatWish, { type: 'say' }>): Promise<ShownTurn> {
  const { chat, body } = posted;
  const { by, mode } = body;
  const before = await chat.view();
  const options = defined({ by, mode });
  const waiting = before?.interrupts ?? [];
  const turn = before?.conversation?.turn ?? 0;
  const begins = before?.nextOffset ?? 0;
  if (waiting.length > 0 && mode !== 'now')
    throw takesNoMessage(
      'The chat',
      waiting.map((interrupt) => interrupt.id),
    );
  let message = id;
  let receipt = await chat.send(content, { ...options, id });
  if (again && receipt.turn !== undefined && receipt.turn <= turn && before?.conversation?.status !== 'working') {
    // The log keeps the message, and a new turn answers the message again.
    message = `${id.slice(0, 80)}.again-${turn}`;
    receipt = await chat.send(content, { ...options, id: message });
  }
  const edited = await editedFrom(posted, before, { id, content, turn: receipt.turn });
  if (edited !== undefined) {
    message = edited;
    receipt = await chat.send(content, { ...options, id: message });
  }
  if (receipt.turn === undefined || receipt.turn > turn) return { message, begins };
  const known = await chat.turnOffset(receipt.turn);
  return known === undefined ? { message, begins: 0 } : { turn: receipt.turn, begins: known };
}

interface Sent {
  readonly id: string;
  readonly content: string | readonly Part[];
  readonly turn: number | undefined;
}

/** A page edits a message under the same id, but the log keeps the old message. Undefined: no edit. */
async function editedFrom(posted: Posted, before: RunView | undefined, { id, content, turn }: Sent): Promise<string | undefined> {
  const stored = queuedIn(before, id) ?? (await storedIn(posted, before, { id, turn }));
  if (stored === undefined) return undefined;
  const { parts, id: given } = messageOfSent({ id, content });
  if (stored.id !== given || canonicalJson(stored.parts) === canonicalJson(parts)) return undefined;
  return `${id.slice(0, 80)}.edited-${hashOf(canonicalJson(parts), 10)}`;
}

async function storedIn(
  { chat, signal }: Posted,
  before: RunView | undefined,
  { id, turn }: Omit<Sent, 'content'>,
): Promise<StoredMessage | undefined> {
  if (before?.conversation === undefined || turn === undefined || turn > before.conversation.turn) return undefined;
  const begins = await chat.turnOffset(turn);
  if (begins === undefined) return undefined;
  return saidIn(await logBetween(chat, begins, before.nextOffset, signal), id)?.message;
}

/** Known answers show their outcome. */
async function answer(
  { chat, body, signal }: Posted,
  { decisions, results, offset }: Extract<ChatWish, { type: 'answer' }>,
): Promise<ShownTurn> {
  const view = await chat.view();
  const turn = view?.conversation?.turn;
  const begins = turn === undefined ? undefined : await chat.turnOffset(turn);
  if (view === undefined || turn === undefined || begins === undefined)
    throw new HoldfastError('run-unknown', `There is no chat "${chat.id}" that waits for an answer.`);
  const { by, roles } = body;
  const who = defined({ by, roles });
  const asked = askedIn(await logBetween(chat, begins, view.nextOffset, signal));
  let from = view.nextOffset;
  for (const { id, approved, reason } of decisions) {
    const open = view.interrupts.find((interrupt) => interrupt.id === id);
    const ended = asked.find(({ interrupt }) => interrupt.id === id)?.end;
    if (open === undefined && ended === undefined)
      throw new HoldfastError('interrupt-unknown', `The chat "${chat.id}" asks for no approval "${id}".`);
    from = Math.min(from, ended?.offset ?? from);
    if (open === undefined) continue;
    const inputHash = open.kind === 'approval' ? open.inputHash : undefined;
    await chat.answer(id, decisionOf(approved, reason), { ...who, ...defined({ inputHash }) }).catch(unlessAnswered);
  }
  let isAwaited = decisions.length > 0;
  const ends = new Map(asked.map(({ interrupt, end }) => [externalCallIn(interrupt)?.callId, end?.offset]));
  for (const [callId, end] of ends) {
    if (end === undefined || resultFor(callId, results) === undefined) continue;
    isAwaited = true;
    from = Math.min(from, end);
  }
  for (const interrupt of view.interrupts) {
    const result = resultFor(externalCallIn(interrupt)?.callId, results);
    if (result === undefined) continue;
    isAwaited = true;
    await chat.answer(interrupt.id, result, who).catch(unlessAnswered);
  }
  if (!isAwaited) throw new HoldfastError('interrupt-unknown', `The chat "${chat.id}" waits for no result of these calls.`);
  const shown = offset !== undefined && offset >= begins && offset <= view.nextOffset ? offset : from;
  return { turn, begins, from: shown };
}

/** The page names the second of two calls with one id `ID~2`. */
function resultFor<Result>(callId: string | undefined, results: ReadonlyMap<string, Result>): Result | undefined {
  if (callId === undefined) return undefined;
  const again = [...results.keys()].find((id) => id.startsWith(`${callId}~`) && /^[0-9]+$/.test(id.slice(callId.length + 1)));
  return results.get(callId) ?? results.get(again ?? '');
}

/** The stream shows an earlier answer, or a stop of the turn. */
const unlessAnswered = unless('interrupt-answered', 'interrupt-withdrawn');
