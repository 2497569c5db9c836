import { checkJob } from '../../client/runs/whole-misfit';
import { messageOfSent } from '../../contract/conversations';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { RunView } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import { canonicalJson } from '../../contract/messages/messages';
import type { Json, Part } from '../../contract/messages/messages';
import { isRunId } from '../../contract/names';
import { quoted, refuseOtherAnswer } from '../projection/answers';
import type { Thread } from '../projection/thread';
import { keptFor, threadOf } from '../projection/thread';
import { listen, queuedIn } from '../projection/thread-log';
import type { GivenPayload } from './answers';
import { answerIn, answerInWords, payloadsIn, textIn } from './answers';
import type { A2aCaller } from './caller';
import { contentOf } from './parts';
import type { GivenMessage } from './request';
import { speakerIn } from './request';
import type { AskedInTask } from './task-fold';
import { TaskReading } from './task-reading';
import type { TaskRef } from './task-ref';
import { newContextId, sentIdOf, taskIdOf, taskRefOf } from './task-ref';

interface Sending extends Pick<A2aCaller, 'client' | 'agent' | 'inputSchema' | 'signal'> {
  readonly message: GivenMessage;
  /** A stream follows, so texts must come in pieces. */
  readonly isStreamed: boolean;
}

export function send(sending: Sending): Promise<TaskReading> {
  const { taskId, contextId } = sending.message;
  if (taskId === undefined) return begin(sending);
  const ref = taskRefOf(taskId);
  if (contextId === undefined || contextId === ref.contextId) return answer(sending, ref);
  throw new HoldfastError('request-invalid', `The task "${taskId}" is in the context "${ref.contextId}", and not in "${contextId}".`);
}

async function begin({ client, agent, message, inputSchema, signal, isStreamed }: Sending): Promise<TaskReading> {
  const content = contentOf(message);
  const { messageId, contextId = newContextId(agent, messageId, content), metadata } = message;
  if (!isRunId(contextId)) throw new HoldfastError('run-id-invalid', `"${contextId}" cannot be the id of a context.`);
  const ref = { contextId, message: sentIdOf(messageId) };
  const thread = threadOf(client, agent, contextId, message.contextId === undefined ? { idle: keptFor } : {});
  const view = await thread.view();
  if ((view?.conversation?.turn ?? 0) === 0 && inputSchema !== undefined) checkData(agent, inputSchema, message);
  const isBusy = view !== undefined && (view.interrupts.length > 0 || view.conversation?.status === 'ended');
  if (!isBusy || !(await isKnown(thread, ref, view))) {
    const [asking] = view?.interrupts ?? [];
    if (asking !== undefined) throw waitsForAnswer(contextId, asking);
    if (isStreamed) await listen(thread, view?.nextOffset ?? 0, signal);
    const { by } = speakerIn(metadata);
    await thread.send(content, { id: ref.message, ...defined({ by }) });
  }
  const reading = view === undefined ? await TaskReading.begun(thread, ref, signal) : await TaskReading.open(thread, ref, signal);
  refuseOtherContent(reading, messageId, content);
  return reading;
}

function refuseOtherContent({ fold, view }: TaskReading, messageId: string, content: string | readonly Part[]): void {
  const stored = fold.said ?? queuedIn(view, fold.ref.message);
  const given = messageOfSent({ id: fold.ref.message, content });
  // A changed message in the queue has another id.
  if (stored === undefined || stored.id !== given.id || canonicalJson(stored.parts) === canonicalJson(given.parts)) return;
  throw new HoldfastError('run-id-in-use', `The messageId "${messageId}" belongs to another message of this context. Use a new one.`);
}

/** Data alone at a context's beginning is a job. */
function checkData(agent: string, inputSchema: Json, { parts }: GivenMessage): void {
  const [part] = parts;
  if (parts.length === 1 && part?.data !== undefined) checkJob(agent, inputSchema, part.data);
}

async function isKnown(thread: Thread, { message }: TaskRef, view: RunView): Promise<boolean> {
  return queuedIn(view, message) !== undefined || (await thread.fateOf(message)) !== undefined;
}

function waitsForAnswer(contextId: string, { id }: Interrupt): HoldfastError {
  const message = `A task of the context "${contextId}" waits for an answer to "${id}". Answer it with its taskId, or cancel it.`;
  return new HoldfastError('interrupts-open', message);
}

async function answer({ client, agent, message, signal, isStreamed }: Sending, ref: TaskRef): Promise<TaskReading> {
  const thread = threadOf(client, agent, ref.contextId);
  const reading = await TaskReading.open(thread, ref, signal);
  const { fold, view } = reading;
  const id = taskIdOf(ref);
  if (fold.isOver) throw new HoldfastError('task-ended', `The task "${id}" is over: ${fold.state}.`);
  const open = view !== undefined && view.conversation?.turn === fold.turn ? view.interrupts : [];
  const payloads = payloadsIn(message);
  if (open.length === 0 && payloads.every(({ interruptId }) => interruptId === undefined))
    throw new HoldfastError('conversation-busy', `The task "${id}" is at work. Say more without its taskId: that begins a task after it.`);
  const answers =
    payloads.length > 0
      ? payloads.flatMap((payload) => answerOf(payload, open, fold.asked))
      : inWords(open, fold.asked.size, textIn(message));
  if (answers === undefined) return reading.remarked(unclear);
  if (isStreamed) await listen(thread, view?.nextOffset ?? 0, signal);
  const who = speakerIn(message.metadata);
  for (const { interruptId, inputHash, said } of answers) await thread.answer(interruptId, said, { ...who, ...defined({ inputHash }) });
  return TaskReading.open(thread, ref, signal);
}

const unclear =
  'This answer was not understood. Send a data part with the `interruptId`. "yes" or "no" is enough for the first approval of a task.';

interface Said {
  readonly interruptId: string;
  readonly said: Json;
  readonly inputHash?: string;
}

/**
 * Undefined: unclear words. Words answer only a task's first question, because words sent again would answer a second question that the
 * sender has not seen.
 */
function inWords(open: readonly Interrupt[], asked: number, text: string): readonly Said[] | undefined {
  const [only] = open;
  const said = only === undefined || asked > 1 ? undefined : answerInWords(only, text);
  return said === undefined || only === undefined ? undefined : [{ interruptId: only.id, said }];
}

/** Empty for an answer that counts already. Without an id an answer is for the task's first question only. */
function answerOf(given: GivenPayload, open: readonly Interrupt[], asked: ReadonlyMap<string, AskedInTask>): readonly Said[] {
  const { payload, inputHash, interruptId = asked.size === 1 ? open[0]?.id : undefined } = given;
  if (interruptId === undefined)
    throw new HoldfastError('answer-invalid', `Say with \`interruptId\` what is answered: ${quoted(open.map(({ id }) => id))}.`);
  const interrupt = open.find(({ id }) => id === interruptId);
  if (interrupt !== undefined) return [{ interruptId, said: answerIn(interrupt, payload), ...defined({ inputHash }) }];
  const past = asked.get(interruptId);
  if (past?.end === undefined) throw new HoldfastError('interrupt-unknown', `The task does not ask for "${interruptId}".`);
  refuseOtherAnswer(past.end, () => answerIn(past.interrupt, payload));
  return [];
}
