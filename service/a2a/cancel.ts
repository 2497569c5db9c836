import type { HoldfastClient } from '../../client/index';
import { codeOf } from '../../contract/errors';
import type { Interrupt } from '../../contract/interrupts';
import { refusalOf } from '../../contract/interrupts';
import type { Json } from '../../contract/messages/messages';
import { externalCallIn } from '../../contract/external-calls';
import { threadOf } from '../projection/thread';
import { A2aError, asKind } from './errors';
import type { Speaker } from './request';
import { TaskReading } from './task-reading';
import { taskRefOf } from './task-ref';

/** How long the answer to a cancel waits for the end of the task. */
const patienceMs = 5000;

const why = 'Somebody cancelled the task.';

export interface Cancelling {
  readonly client: HoldfastClient;
  readonly agent: string;
  readonly id: string;
  readonly who: Speaker;
  readonly signal: AbortSignal;
}

/** Takes a message back that waits for its turn, or stops the turn. Calls that wait for people are rejected. */
export async function cancelTask({ client, agent, id, who, signal }: Cancelling): Promise<TaskReading> {
  const ref = taskRefOf(id);
  const thread = threadOf(client, agent, ref.contextId);
  const patience = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  const { fold, view } = await TaskReading.open(thread, ref, signal);
  if (fold.isOver) throw new A2aError('TASK_NOT_CANCELABLE', 'task-ended', `The task "${id}" is over: ${fold.state}.`);
  if (fold.turn === undefined) {
    await thread.withdraw(ref.message).catch(notCancelable);
    return TaskReading.open(thread, ref, signal);
  }
  const open = view.conversation?.turn === fold.turn ? view.interrupts : [];
  const answers = open.map((interrupt) => ({ interruptId: interrupt.id, answer: refusalFor(interrupt, who) }));
  await thread.stop().catch(notCancelable);
  for (const { interruptId, answer } of answers) await thread.answer(interruptId, answer, who).catch(unlessAnswered);
  return (await TaskReading.open(thread, ref, patience)).settled();
}

/** What lets a turn end that waits for it. Throws where only people can say it. */
function refusalFor(interrupt: Interrupt, who: Speaker): Json {
  const { id } = interrupt;
  const answer: Json | undefined =
    interrupt.kind === 'approval'
      ? { type: 'reject', feedback: why }
      : externalCallIn(interrupt) === undefined
        ? undefined
        : { error: why };
  if (answer === undefined)
    throw new A2aError('TASK_NOT_CANCELABLE', 'interrupts-open', `The task waits for an answer to "${id}". Answer it first.`);
  const refused = refusalOf(interrupt, { interruptId: id, answer, ...who }, Date.now());
  if (refused !== undefined) throw new A2aError('TASK_NOT_CANCELABLE', 'answer-forbidden', refused.message);
  return answer;
}

/** Somebody else was first. */
function unlessAnswered(error: unknown): void {
  if (codeOf(error)?.startsWith('interrupt-') !== true) throw error;
}

function notCancelable(error: unknown): void {
  const code = codeOf(error);
  throw code === 'turn-unknown' || code === 'message-unknown' ? asKind('TASK_NOT_CANCELABLE', error) : error;
}
