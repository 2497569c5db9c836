import type { Delta } from '../../contract/deltas';
import { defined } from '../../contract/defined';
import type { RunEvent, RunView } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import type { Failure, Json, StoredMessage } from '../../contract/messages/messages';
import { isConversation } from '../../contract/record/agent-paths';
import { Projection } from '../projection/projection';
import { partsOf } from './parts';
import { questionParts } from './questions';
import { TaskArtifacts } from './task-artifacts';
import type { TaskRef } from './task-ref';
import { taskIdOf } from './task-ref';
import type { A2aMessage, A2aPart, A2aStatus, A2aTask, A2aTaskState, A2aUpdate } from './wire';
import { isOver } from './wire';

type TurnEnd = Extract<RunEvent, { type: 'turn-end' }>;
type RunEnd = Extract<RunEvent, { type: 'run-end' }>;
type InterruptEnd = Extract<RunEvent, { type: 'interrupt-end' }>;

/** What people were asked, and how that ended. */
export interface AskedInTask {
  readonly interrupt: Interrupt;
  readonly time: number;
  end?: InterruptEnd;
}

const stateOfTurn = { completed: 'TASK_STATE_COMPLETED', failed: 'TASK_STATE_FAILED', stopped: 'TASK_STATE_CANCELED' } as const;

/**
 * Makes a task of the log of its turn, and updates of what comes after it. The updates that it gives and the task that it has always say the same. It
 * keeps nothing that the log does not give again.
 */
export class TaskFold {
  private readonly projection = new Projection();
  private readonly artifacts: TaskArtifacts;
  private readonly history: A2aMessage[] = [];
  private readonly of: { readonly taskId: string; readonly contextId: string };
  private status: A2aStatus = { state: 'TASK_STATE_SUBMITTED' };
  private usage: Json | undefined;
  /** What people were asked in this turn, by the ids of the interrupts. */
  readonly asked = new Map<string, AskedInTask>();
  /** Undefined: no turn has taken the message. */
  turn: number | undefined;
  /** What began the task, once a turn has taken it. */
  said: StoredMessage | undefined;

  constructor(private readonly ref: TaskRef) {
    this.of = { taskId: taskIdOf(ref), contextId: ref.contextId };
    this.artifacts = new TaskArtifacts(this.of);
  }

  get state(): A2aTaskState {
    return this.status.state;
  }

  get isOver(): boolean {
    return isOver(this.state);
  }

  /** When the state changed last. One that nobody has a time for is the newest. */
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
    for (const step of this.projection.take(event)) {
      if (step.step !== 'event') yield* isConversation(step.runPath) ? this.artifacts.take(step) : [];
      else yield* this.event(step.event);
    }
  }

  /** The message waits for its turn, or none will take it. */
  *waits(text: string, state: 'TASK_STATE_SUBMITTED' | 'TASK_STATE_CANCELED' | 'TASK_STATE_REJECTED', time?: number) {
    yield* this.become(state, time, [{ text }]);
  }

  /** How the turn stands when nothing more comes by itself. */
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

  /** Says something beside what is asked. */
  *remark(text: string): Generator<A2aUpdate, void, void> {
    const { state, message, timestamp } = this.status;
    yield* this.become(state, timestamp === undefined ? undefined : Date.parse(timestamp), [{ text }, ...(message?.parts ?? [])]);
  }

  private *event(event: RunEvent): Generator<A2aUpdate, void, void> {
    switch (event.type) {
      case 'message':
        this.history.push(this.message(event.id, 'ROLE_USER', partsOf(event.message.parts)));
        if (event.id === this.ref.message) this.said = event.message;
        if (this.turn !== undefined) return;
        this.turn = event.turn;
        return yield* this.become('TASK_STATE_WORKING', event.time);
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

  private *answered(event: InterruptEnd): Generator<A2aUpdate, void, void> {
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

/** A failure as a text for people and data for programs. */
function failureParts(error: Failure | undefined): readonly A2aPart[] {
  const { code, message } = error ?? { code: 'run-failed', message: 'The turn has failed.' };
  return [{ text: message }, { data: { code }, mediaType: 'application/json' }];
}
