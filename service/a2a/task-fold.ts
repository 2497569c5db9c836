import type { Delta } from '../../contract/deltas';
import { defined } from '../../contract/defined';
import type { MessageFate } from '../../client/conversations/conversation';
import type { RunEvent, RunView } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import type { Failure, Json, StoredMessage } from '../../contract/messages/messages';
import { isConversation } from '../../contract/record/agent-paths';
import type { InterruptEndEvent } from '../projection/answers';
import { Projection } from '../projection/projection';
import { partsOf, questionParts } from './parts';
import { TaskArtifacts } from './task-artifacts';
import type { TaskRef } from './task-ref';
import { taskIdOf } from './task-ref';
import type { A2aMessage, A2aPart, A2aStatus, A2aTask, A2aTaskState, A2aUpdate } from './wire';
import { isOver } from './wire';

type TurnEnd = Extract<RunEvent, { type: 'turn-end' }>;
type RunEnd = Extract<RunEvent, { type: 'run-end' }>;

export interface AskedInTask {
  readonly interrupt: Interrupt;
  readonly time: number;
  end?: InterruptEndEvent;
}

const stateOfTurn = { completed: 'TASK_STATE_COMPLETED', failed: 'TASK_STATE_FAILED', stopped: 'TASK_STATE_CANCELED' } as const;

type LeftState = readonly [text: string, state: 'TASK_STATE_SUBMITTED' | 'TASK_STATE_CANCELED' | 'TASK_STATE_REJECTED'];

export const ended: LeftState = ['The conversation has ended.', 'TASK_STATE_REJECTED'];

export function leftBy({ left, code = 'it did not count' }: Pick<Extract<MessageFate, { left: string }>, 'left' | 'code'>): LeftState {
  if (left === 'withdrawn') return ['Somebody took the message back.', 'TASK_STATE_CANCELED'];
  return [`No turn took the message: ${code}.`, 'TASK_STATE_REJECTED'];
}

/** The log may begin before the task's turn. */
export class TaskFold {
  private readonly projection = new Projection();
  private readonly artifacts: TaskArtifacts;
  private readonly history: A2aMessage[] = [];
  private readonly of: { readonly taskId: string; readonly contextId: string };
  private status: A2aStatus = { state: 'TASK_STATE_SUBMITTED' };
  private usage: Json | undefined;
  /** Since the last turn's beginning, until a turn takes the message. */
  private before: RunEvent[] = [];
  readonly asked = new Map<string, AskedInTask>();
  /** Undefined: no turn has taken the message. */
  turn: number | undefined;
  said: StoredMessage | undefined;

  constructor(readonly ref: TaskRef) {
    this.of = { taskId: taskIdOf(ref), contextId: ref.contextId };
    this.artifacts = new TaskArtifacts(this.of);
  }

  get state(): A2aTaskState {
    return this.status.state;
  }

  get isOver(): boolean {
    return isOver(this.state);
  }

  /** A task without a time is the newest. */
  get time(): number {
    return this.status.timestamp === undefined ? Infinity : Date.parse(this.status.timestamp);
  }

  task({ historyLength, withArtifacts = true }: { readonly historyLength?: number; readonly withArtifacts?: boolean } = {}): A2aTask {
    const { taskId: id, contextId } = this.of;
    const history = historyLength === undefined ? this.history : historyLength === 0 ? [] : this.history.slice(-historyLength);
    const artifacts = withArtifacts ? this.artifacts.all() : [];
    return {
      id,
      contextId,
      status: this.status,
      ...(artifacts.length === 0 ? {} : { artifacts }),
      ...(history.length === 0 ? {} : { history: [...history] }),
      metadata: { holdfast: { run: contextId, ...defined({ turn: this.turn, usage: this.usage }) } },
    };
  }

  *take(event: RunEvent | Delta): Generator<A2aUpdate, void, void> {
    if (this.isOver) return;
    if (this.turn !== undefined) return yield* this.ofTurn(event);
    if (event.offset === undefined) return;
    const isOfMessage = 'id' in event && event.id === this.ref.message;
    if (isOfMessage && event.type === 'message-withdrawn') return yield* this.waits(...leftBy({ left: 'withdrawn' }), event.time);
    if (isOfMessage && event.type === 'message-ignored')
      return yield* this.waits(...leftBy({ left: 'ignored', code: event.code }), event.time);
    if (event.type === 'run-end') return yield* this.waits(...ended, event.time);
    if (event.type === 'turn-start') this.before = [];
    this.before.push(event);
    if (!isOfMessage || event.type !== 'message') return;
    this.turn = event.turn;
    for (const one of this.before) yield* this.ofTurn(one);
    this.before = [];
  }

  private *ofTurn(event: RunEvent | Delta): Generator<A2aUpdate, void, void> {
    for (const step of this.projection.take(event)) {
      if (step.step !== 'event') yield* isConversation(step.runPath) ? this.artifacts.take(step) : [];
      else yield* this.event(step.event);
    }
  }

  *waits(text: LeftState[0], state: LeftState[1], time?: number): Generator<A2aUpdate, void, void> {
    yield* this.become(state, time, [{ text }]);
  }

  *asks(time: number): Generator<A2aUpdate, void, void> {
    const open = [...this.asked.values()].filter(({ end }) => end === undefined).map(({ interrupt }) => interrupt);
    if (open.length > 0 && !this.isOver) yield* this.become('TASK_STATE_INPUT_REQUIRED', time, questionParts(open));
  }

  *stands(view: RunView): Generator<A2aUpdate, void, void> {
    if (this.isOver) return;
    if (view.status === 'waiting' && view.conversation?.turn === this.turn && view.interrupts.length > 0) {
      const times = view.interrupts.map(({ id }) => this.asked.get(id)?.time ?? 0);
      return yield* this.become('TASK_STATE_INPUT_REQUIRED', Math.max(...times), questionParts(view.interrupts));
    }
    if (view.status === 'stuck') return yield* this.become('TASK_STATE_WORKING', undefined, failureParts(view.error));
    if (view.status === 'failed') return yield* this.become('TASK_STATE_FAILED', undefined, failureParts(view.error));
    if (view.status === 'cancelled' || view.status === 'completed') yield* this.become('TASK_STATE_CANCELED');
  }

  *remark(text: string): Generator<A2aUpdate, void, void> {
    const { state, message, timestamp } = this.status;
    yield* this.become(state, timestamp === undefined ? undefined : Date.parse(timestamp), [{ text }, ...(message?.parts ?? [])]);
  }

  private *event(event: RunEvent): Generator<A2aUpdate, void, void> {
    switch (event.type) {
      case 'message':
        this.history.push(this.message(event.id, 'ROLE_USER', partsOf(event.message.parts)));
        if (event.id === this.ref.message) this.said = event.message;
        if (this.state === 'TASK_STATE_SUBMITTED') yield* this.become('TASK_STATE_WORKING', event.time);
        return;
      case 'interrupt-start': {
        const { interrupt } = event;
        this.asked.set(interrupt.id, { interrupt, time: event.time });
        this.history.push(this.message(`asked.${event.offset}`, 'ROLE_AGENT', questionParts([interrupt])));
        return;
      }
      case 'interrupt-end':
        return yield* this.answered(event);
      case 'turn-end':
        return yield* this.turnEnd(event);
      case 'run-end':
        return yield* this.runEnd(event);
      default:
        return;
    }
  }

  private *answered(event: InterruptEndEvent): Generator<A2aUpdate, void, void> {
    const asked = this.asked.get(event.interruptId);
    if (asked !== undefined) asked.end = event;
    const { interruptId, answer } = event;
    if (event.reason === 'answer')
      this.history.push(this.message(`answer.${event.offset}`, 'ROLE_USER', [{ data: { interruptId, answer } }]));
    if (this.state === 'TASK_STATE_INPUT_REQUIRED') yield* this.become('TASK_STATE_WORKING', event.time);
  }

  private *turnEnd({ status, output, error, usage, time }: TurnEnd): Generator<A2aUpdate, void, void> {
    this.usage = usage as unknown as Json;
    yield* this.artifacts.end();
    if (output !== undefined && status === 'completed') yield* this.artifacts.output(output);
    yield* this.become(stateOfTurn[status], time, status === 'failed' ? failureParts(error) : undefined);
  }

  private *runEnd({ status, error, time, reason }: RunEnd): Generator<A2aUpdate, void, void> {
    yield* this.artifacts.end();
    if (status === 'failed') return yield* this.become('TASK_STATE_FAILED', time, failureParts(error));
    yield* this.become('TASK_STATE_CANCELED', time, reason === undefined ? undefined : [{ text: reason }]);
  }

  private *become(state: A2aTaskState, time?: number, parts?: readonly A2aPart[]): Generator<A2aUpdate, void, void> {
    const message = parts === undefined ? undefined : this.message(`status.${time ?? 0}`, 'ROLE_AGENT', parts);
    const timestamp = time === undefined ? undefined : new Date(time).toISOString();
    const before = JSON.stringify(this.status);
    this.status = { state, ...defined({ message, timestamp }) };
    if (JSON.stringify(this.status) !== before) yield { statusUpdate: { ...this.of, status: this.status } };
  }

  private message(messageId: string, role: A2aMessage['role'], parts: readonly A2aPart[]): A2aMessage {
    return { messageId, ...this.of, role, parts };
  }
}

function failureParts(error: Failure | undefined): readonly A2aPart[] {
  const { code, message } = error ?? { code: 'run-failed', message: 'The turn has failed.' };
  return [{ text: message }, { data: { code }, mediaType: 'application/json' }];
}

export function drain(updates: Generator<unknown>): void {
  for (const _ of updates);
}
