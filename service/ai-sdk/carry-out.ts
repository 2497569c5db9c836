import { createHash } from 'node:crypto';
import { messageOfSent } from '../../contract/conversations';
import { defined } from '../../contract/defined';
import { HoldfastError, codeOf } from '../../contract/errors';
import type { RunView } from '../../contract/events';
import { canonicalJson } from '../../contract/messages/messages';
import type { Json, Part, StoredMessage } from '../../contract/messages/messages';
import { externalCallIn } from '../../contract/external-calls';
import type { Thread } from '../projection/thread';
import type { ChatBody, ChatWish } from './request';
import { wishOf } from './request';
import type { ShownTurn } from './turn-stream';

/** Does what a page asks for, and tells what it is to be shown. Throws what the page is told with a status. */
export function carryOut(chat: Thread, body: ChatBody): Promise<ShownTurn> {
  const wish = wishOf(body);
  return wish.type === 'say' ? say(chat, wish, body) : answer(chat, wish, body);
}

async function say(chat: Thread, { id, content, again }: Extract<ChatWish, { type: 'say' }>, { by, mode }: ChatBody): Promise<ShownTurn> {
  const before = await chat.view();
  const options = defined({ by, mode });
  const waiting = before?.interrupts ?? [];
  const turn = before?.conversation?.turn ?? 0;
  const begins = before?.nextOffset ?? 0;
  if (waiting.length > 0 && mode !== 'now') {
    const ids = waiting.map((interrupt) => `"${interrupt.id}"`).join(', ');
    throw new HoldfastError('interrupts-open', `The chat waits for an answer to ${ids}, and takes no message before.`);
  }
  let message = id;
  let receipt = await chat.send(content, { ...options, id });
  if (again && receipt.turn !== undefined && receipt.turn <= turn && before?.conversation?.status !== 'working') {
    // What was said stays said: the answer to it comes in a turn of its own.
    message = `${id.slice(0, 80)}.again-${turn}`;
    receipt = await chat.send(content, { ...options, id: message });
  }
  const edited = await editedFrom(chat, before, { id, content, turn: receipt.turn });
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

/**
 * The id for a message that a page has edited: it keeps its id, and says something else. What was said stays said, and this is said after it.
 * Undefined: it is the same.
 */
async function editedFrom(chat: Thread, before: RunView | undefined, { id, content, turn }: Sent): Promise<string | undefined> {
  const stored = before?.conversation?.queue.find((one) => one.id === id)?.message ?? (await saidIn(chat, before, { id, turn }));
  if (stored === undefined) return undefined;
  const { parts, id: given } = messageOfSent({ id, content: content });
  if (stored.id !== given || canonicalJson(stored.parts) === canonicalJson(parts)) return undefined;
  return `${id.slice(0, 80)}.edited-${createHash('sha256').update(canonicalJson(parts)).digest('hex').slice(0, 10)}`;
}

/** What a turn took under this id. Undefined: the message is new. */
async function saidIn(chat: Thread, before: RunView | undefined, { id, turn }: Omit<Sent, 'content'>): Promise<StoredMessage | undefined> {
  if (before?.conversation === undefined || turn === undefined || turn > before.conversation.turn) return undefined;
  const begins = await chat.turnOffset(turn);
  if (begins === undefined) return undefined;
  const over = new AbortController();
  try {
    for await (const event of chat.events({ from: begins, until: 'waiting', signal: over.signal })) {
      if (event.type === 'message' && event.id === id) return event.message;
      if (event.type === 'turn-end' || (event.offset ?? 0) >= before.nextOffset - 1) return undefined;
    }
    return undefined;
  } finally {
    over.abort();
  }
}

/** Decisions and results that count are given. Those that were given before show what became of them. */
async function answer(
  chat: Thread,
  { decisions, results, offset }: Extract<ChatWish, { type: 'answer' }>,
  { by, roles }: ChatBody,
): Promise<ShownTurn> {
  const view = await chat.view();
  const turn = view?.conversation?.turn;
  const begins = turn === undefined ? undefined : await chat.turnOffset(turn);
  if (view === undefined || turn === undefined || begins === undefined)
    throw new HoldfastError('run-unknown', `There is no chat "${chat.id}" that waits for an answer.`);
  const known = await pastOf(chat, begins, view);
  const who = defined({ by, roles });
  let from = view.nextOffset;
  for (const { id, approved, reason } of decisions) {
    const decision: Json = approved
      ? { type: 'approve', ...defined({ comment: reason }) }
      : { type: 'reject', ...defined({ feedback: reason }) };
    const open = view.interrupts.find((interrupt) => interrupt.id === id);
    const ended = known.interrupts.get(id);
    if (open === undefined && ended === undefined)
      throw new HoldfastError('interrupt-unknown', `The chat "${chat.id}" asks for no approval "${id}".`);
    from = Math.min(from, ended ?? from);
    if (open === undefined) continue;
    const inputHash = open.kind === 'approval' ? open.inputHash : undefined;
    await chat.answer(id, decision, { ...who, ...defined({ inputHash }) }).catch(unlessAnswered);
  }
  const given = [...known.calls].filter(([callId]) => resultFor(callId, results) !== undefined);
  for (const [, ended] of given) from = Math.min(from, ended);
  let isAwaited = decisions.length > 0 || given.length > 0;
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

/** Of two calls with one id the page has the second one as `ID~2`. */
function resultFor<Result>(callId: string | undefined, results: ReadonlyMap<string, Result>): Result | undefined {
  if (callId === undefined) return undefined;
  const again = [...results.keys()].find((id) => id.startsWith(`${callId}~`) && /^[0-9]+$/.test(id.slice(callId.length + 1)));
  return results.get(callId) ?? results.get(again ?? '');
}

/** Somebody else was first, or has stopped the turn. The stream shows what counts. */
function unlessAnswered(error: unknown): void {
  const code = codeOf(error);
  if (code !== 'interrupt-answered' && code !== 'interrupt-withdrawn') throw error;
}

/** What was asked in the turn and is open no more, with the offset of its end. */
interface PastOfTurn {
  readonly interrupts: ReadonlyMap<string, number>;
  /** Calls of external tools, by their own ids. */
  readonly calls: ReadonlyMap<string, number>;
}

async function pastOf(chat: Thread, begins: number, { nextOffset }: RunView): Promise<PastOfTurn> {
  const interrupts = new Map<string, number>();
  const calls = new Map<string, number>();
  const asked = new Map<string, string>();
  const over = new AbortController();
  for await (const event of chat.events({ from: begins, until: 'waiting', signal: over.signal })) {
    if (event.offset === undefined) continue;
    const call = event.type === 'interrupt-start' ? externalCallIn(event.interrupt) : undefined;
    if (event.type === 'interrupt-start' && call !== undefined) asked.set(event.interrupt.id, call.callId);
    if (event.type === 'interrupt-end') {
      interrupts.set(event.interruptId, event.offset);
      const callId = asked.get(event.interruptId);
      if (callId !== undefined) calls.set(callId, event.offset);
    }
    if (event.offset >= nextOffset - 1) break;
  }
  return { interrupts, calls };
}
