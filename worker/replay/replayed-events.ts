import type { LoadedDataConverter } from '@temporalio/common';
import { defined } from '../../contract/defined';
import type { HistoryFact } from '../../contract/record/history-fact';
import type { History } from '../../host/history/history-files';
import type { FactEvent } from '../../host/history/history-facts';
import { FactReader, millisecondsOf } from '../../host/history/history-facts';
import { PayloadReader } from '../../host/history/payload-reader';
import type { Activated, TodayCommand } from './replay-worker';

export interface ReplayedEvent {
  readonly event: FactEvent;
  /** The event at which the task of the command began; 0 for an event without a command. */
  readonly task: number;
  readonly time: number;
  readonly fact?: HistoryFact;
  readonly timerMs?: number;
  readonly childInput?: unknown;
  /** The type of an activity that calls no model and no tool. */
  readonly other?: string;
}

type Attributes = { readonly workflowTaskCompletedEventId?: unknown };

export class HistoryEvents {
  private readonly facts: FactReader;
  private readonly payloads: PayloadReader;
  /** Today's values have passed no codec and no storage. */
  private readonly todayFacts: FactReader;
  private readonly todayPayloads: PayloadReader;

  constructor(
    private readonly workflowId: string,
    converter: LoadedDataConverter,
  ) {
    const { externalStorage: _, ...plain } = { ...converter, payloadCodecs: [] };
    this.facts = new FactReader(converter);
    this.payloads = new PayloadReader(converter);
    this.todayFacts = new FactReader(plain);
    this.todayPayloads = new PayloadReader(plain);
  }

  async recorded({ events = [] }: History): Promise<readonly ReplayedEvent[]> {
    const tasks = new Map<number, Pick<ReplayedEvent, 'task' | 'time'>>();
    const started = new Map<number, number>();
    const read: ReplayedEvent[] = [];
    for (const event of (events ?? []) as readonly FactEvent[]) {
      const completed = event.workflowTaskCompletedEventAttributes;
      if (event.workflowTaskStartedEventAttributes) started.set(Number(event.eventId), millisecondsOf(event.eventTime));
      if (completed) {
        const task = Number(completed.startedEventId);
        tasks.set(Number(event.eventId), { task, time: started.get(task) ?? 0 });
      }
      const of = tasks.get(completedIdOf(event)) ?? { task: 0, time: 0 };
      const [fact] = await this.facts.read([event], this.workflowId);
      const childInput = await valueOf(this.payloads, event.startChildWorkflowExecutionInitiatedEventAttributes?.input?.payloads?.[0]);
      const timer = event.timerStartedEventAttributes;
      const timerMs = timer ? lengthOf(timer.startToFireTimeout) : undefined;
      read.push({ event, ...of, ...defined({ fact, timerMs, childInput, other: otherActivity(event) }) });
    }
    return read;
  }

  /** Leaves out events after the last finished task, which cannot be compared. */
  async today(recorded: readonly ReplayedEvent[], activated: readonly Activated[]): Promise<readonly ReplayedEvent[]> {
    const finished = recorded.flatMap(({ event }) => taskOf(event) ?? []);
    const waiting = activated.map((one) => ({ ...one, task: finished.find((task) => task >= one.task) ?? Infinity }));
    const ids = scheduledIds(recorded);
    const read: ReplayedEvent[] = [];
    for (const one of recorded) {
      if (one.task === 0) read.push(one);
      const task = taskOf(one.event);
      if (task === undefined) continue;
      const woken = waiting.filter((each) => each.task === task);
      const isTakenBack = takenBackIn(woken);
      for (const { time, commands } of woken)
        for (const command of commands) {
          const made = isTakenBack(command) ? undefined : eventOf(command, ids);
          if (made !== undefined) read.push({ ...(await this.todayEvent(made)), task, time });
        }
    }
    return read;
  }

  private async todayEvent({ event, timerMs }: MadeEvent): Promise<Omit<ReplayedEvent, 'task' | 'time'>> {
    const [fact] = await this.todayFacts.read([event], this.workflowId);
    const childInput = await valueOf(this.todayPayloads, event.startChildWorkflowExecutionInitiatedEventAttributes?.input?.payloads?.[0]);
    return { event, ...defined({ fact, timerMs, childInput, other: otherActivity(event) }) };
  }
}

function otherActivity({ activityTaskScheduledEventAttributes: scheduled }: FactEvent): string | undefined {
  const type = scheduled?.activityType?.name ?? undefined;
  return type === 'callModel' || type === 'callTool' ? undefined : type;
}

interface MadeEvent {
  readonly event: FactEvent;
  readonly timerMs?: number;
}

/** Temporal's core withdraws a command that is cancelled in its own task. */
function takenBackIn(woken: readonly Activated[]): (command: TodayCommand) => boolean {
  const all = woken.flatMap(({ commands }) => commands);
  const timers = new Set(all.map(({ cancelTimer }) => cancelTimer?.seq));
  const calls = new Set(all.map(({ requestCancelActivity }) => requestCancelActivity?.seq));
  return ({ startTimer, scheduleActivity }) =>
    (startTimer != null && timers.has(startTimer.seq)) || (scheduleActivity != null && calls.has(scheduleActivity.seq));
}

/** Undefined: the command is not compared. */
function eventOf(command: TodayCommand, ids: ReadonlyMap<string, number[]>): MadeEvent | undefined {
  const { scheduleActivity: call, startTimer: timer, startChildWorkflowExecution: child } = command;
  if (call) {
    const eventId = ids.get(call.activityId ?? '')?.shift() ?? 0;
    const { activityId, activityType: name, arguments: payloads } = call;
    return { event: { eventId, activityTaskScheduledEventAttributes: { activityId, activityType: { name }, input: { payloads } } } };
  }
  if (timer) return { event: {}, timerMs: lengthOf(timer.startToFireTimeout) };
  if (child)
    return {
      event: { startChildWorkflowExecutionInitiatedEventAttributes: { workflowId: child.workflowId, input: { payloads: child.input } } },
    };
  const { modifyWorkflowProperties: memo, completeWorkflowExecution: done, failWorkflowExecution: failed } = command;
  if (memo) return { event: { workflowPropertiesModifiedEventAttributes: { upsertedMemo: memo.upsertedMemo } } };
  if (done) return { event: { workflowExecutionCompletedEventAttributes: { result: { payloads: done.result ? [done.result] : [] } } } };
  if (failed) return { event: { workflowExecutionFailedEventAttributes: { failure: failed.failure } } };
  if (command.cancelWorkflowExecution) return { event: { workflowExecutionCanceledEventAttributes: {} } };
  if (command.continueAsNewWorkflowExecution) return { event: { workflowExecutionContinuedAsNewEventAttributes: {} } };
  return undefined;
}

/** In milliseconds. Numbers from a thread have lost their methods. */
function lengthOf(timeout: NonNullable<TodayCommand['startTimer']>['startToFireTimeout']): number {
  const { seconds, nanos } = timeout ?? {};
  const { low = 0, high = 0 } = (seconds ?? {}) as { low?: number; high?: number };
  const whole = typeof seconds === 'number' ? seconds : high * 2 ** 32 + (low >>> 0);
  return millisecondsOf({ seconds: whole, nanos: nanos ?? 0 });
}

function scheduledIds(recorded: readonly ReplayedEvent[]): ReadonlyMap<string, number[]> {
  const ids = new Map<string, number[]>();
  for (const { event } of recorded) {
    const address = event.activityTaskScheduledEventAttributes?.activityId;
    if (address != null) ids.set(address, [...(ids.get(address) ?? []), Number(event.eventId)]);
  }
  return ids;
}

function taskOf({ workflowTaskCompletedEventAttributes: completed }: FactEvent): number | undefined {
  return completed ? Number(completed.startedEventId) : undefined;
}

function completedIdOf(event: FactEvent): number {
  for (const [key, value] of Object.entries(event))
    if (key.endsWith('EventAttributes') && value) return Number((value as Attributes).workflowTaskCompletedEventId ?? 0);
  return 0;
}

async function valueOf(reader: PayloadReader, payload: unknown): Promise<unknown> {
  return payload == null ? undefined : reader.value(payload);
}
