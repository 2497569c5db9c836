import type { ActivityOptions } from '@temporalio/workflow';
import {
  ActivityCancellationType,
  CancellationScope,
  CancelledFailure,
  patched,
  scheduleActivity,
  sleep,
  upsertMemo,
  upsertSearchAttributes,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import { defineSearchAttributeKey } from '@temporalio/common';
import { isShown } from '../contract/record/agent-paths';
import { HoldfastError } from '../contract/errors';
import type { EventBody } from '../contract/events';
import type { Answer, Interrupt } from '../contract/interrupts';
import { jsonSize, limits } from '../contract/limits';
import type { Manifest, ManifestRequest } from '../contract/manifest';
import type { Json, StoredMessage } from '../contract/messages/messages';
import { messagesOfInput } from '../contract/messages/messages';
import { interruptMemoPrefix, names } from '../contract/names';
import { toolStart } from '../contract/record/tool-outcomes';
import { SeenMessages } from '../contract/record/seen-messages';
import type {
  AgentRunInput,
  AgentRunResult,
  CallModelInput,
  CallModelResult,
  CallToolInput,
  CallToolResult,
  ChildNews,
  ParseInputResult,
  ParseOutputResult,
} from '../contract/record/wire';
import { checkedBytes, toolInputOf } from '../kernel/run/call-inputs';
import { Ledger } from '../kernel/log/ledger';
import { Outbox } from '../kernel/log/outbox';
import type { ChildEnd, ChildRun, ModelCall, Ports, Timer, ToolCallRequest } from '../kernel/run/ports';
import { errorOfActivity, lostModelCall, lostToolCall } from './activity-failures';
import { AnswerTimes } from './answer-times';
import { LocalActivities } from './local-activities';
import { ParentLine } from './parent-line';
import { TaskRoom } from './task-room';
import { Timeline } from './timeline';
import { TemporalChildren, isolatedDecide } from './temporal-children';
import { isCancellation } from '../kernel/effects/errors';

/** Thrown within a step, so that all of it is undone. */
const noRoom = new HoldfastError('payload-too-large', 'This task has no room for it.');

const statusKey = defineSearchAttributeKey('HoldfastStatus', 'KEYWORD');

/** The kernel's ports on Temporal. Every waiting thing is a command; what readers see rides in the next one. */
export class TemporalPorts implements Ports {
  readonly ledger: Ledger;
  readonly seen: SeenMessages;
  /** Activities and local activities that have not come back. */
  pending = 0;
  heard = 0;
  /** Sleeps, which a border may lie in. */
  sleeping = 0;
  /** The kernel stands at an iteration border and waits to go on elsewhere. */
  parked = false;
  /** Nothing new may start: the run is about to go on elsewhere. */
  draining = false;
  deferred: (() => void)[] = [];
  readonly children: TemporalChildren;
  private readonly parentLine: ParentLine | undefined;
  private readonly outbox: Outbox;
  private offset: number;
  private waiting: number;
  private readonly local = new LocalActivities(
    () => this.mayStartLocal(),
    (promise) => this.counted(promise),
    (result) => this.room.takeBeside(jsonSize(result)),
    () => this.draining,
  );
  readonly room = new TaskRoom(() => this.counted(sleep(1)));
  readonly timeline = new Timeline();
  readonly times: AnswerTimes;
  /** Told of answers to isolated agents that this run was not handed. */
  found: (answer: Answer, at: number) => void = () => undefined;
  /** The task that the last call was made in, by the length that history has in it. */
  private calledAt = 0;
  private stopping = false;
  private readonly ended = new CancellationScope();
  private resume: () => void = () => undefined;
  private resumed = new Promise<void>((resolve) => (this.resume = resolve));
  private readonly whole = CancellationScope.current();

  constructor(
    input: AgentRunInput,
    private readonly wantsBorder: () => boolean,
  ) {
    const { start, snapshot } = input;
    this.seen = new SeenMessages(input);
    this.children = new TemporalChildren(start);
    this.times = new AnswerTimes(start, this.local, this.timeline);
    this.parentLine =
      start.parent === undefined
        ? undefined
        : new ParentLine(
            start,
            (sending) => this.counted(sending),
            (bytes) => this.room.takeBeside(bytes),
          );
    this.offset = snapshot?.nextOffset ?? 1;
    this.ledger = new Ledger(snapshot?.lists ?? { [start.agent]: messagesOfInput(start.input) ?? [] }, snapshot?.shown ?? []);
    this.outbox = new Outbox(this.ledger);
    this.waiting = ((snapshot?.state as { interrupts?: readonly unknown[] } | undefined)?.interrupts ?? []).length;
  }

  get nextOffset(): number {
    return this.offset;
  }

  get hasEvents(): boolean {
    return !this.outbox.isEmpty;
  }

  prepare(request: ManifestRequest, messages: readonly StoredMessage[]): Promise<Manifest> {
    // A message that the agent's prompt made stands in no history yet: it goes with the first model call.
    return this.coded(this.local.run('prepareRun', [request, messages.filter(({ id }) => this.ledger.knows(id))], 60_000));
  }

  parseInput(tool: string, input: Json): Promise<ParseInputResult> {
    return this.coded(this.local.run('parseInput', [{ tool, input }], 10_000));
  }

  parseOutput(output: string, text: string): Promise<ParseOutputResult> {
    return this.coded(this.local.run('parseOutput', [{ output, text }], 10_000));
  }

  async callModel(call: ModelCall): Promise<CallModelResult> {
    if (this.draining) await this.held();
    this.refuseWhenCancelled();
    const step = (): CallModelInput | undefined =>
      this.step(`the model call ${call.address}`, () => {
        const edit = this.ledger.editFor(call);
        return { ...edit, path: call.path, turn: call.turn, ...valuesOf(call), ...this.takeEvents() };
      });
    const input = step() ?? (await this.inAnotherTask(step));
    call.runLocal?.sent();
    this.seen.asked(call.path, call.messages);
    if (isShown(call.path)) this.offset += 1;
    const { timeoutMs, heartbeatMs, attempts } = call.facts;
    try {
      const result = await this.counted(
        this.schedule<CallModelResult>('callModel', input, {
          activityId: call.address,
          startToCloseTimeout: timeoutMs,
          heartbeatTimeout: heartbeatMs,
          retry: retryPolicy(attempts),
          cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        }),
      );
      this.ledger.learn(result.message);
      this.ledger.cameBack(call.path);
      return result;
    } catch (error) {
      if (isCancellation(error)) throw error;
      return { address: call.address, failed: lostModelCall(error) };
    }
  }

  async callTool(call: ToolCallRequest): Promise<CallToolResult> {
    if (this.draining) await this.held();
    this.refuseWhenCancelled();
    const { address, facts } = call;
    if (facts.quick) return this.callQuick(call);
    const once = facts.effect === 'once' && call.reconcile !== true;
    const step = (): CallToolInput | undefined =>
      this.step(`the call of tool "${call.tool}"`, () => ({ ...toolInputOf(call), ...this.takeEvents() }));
    const input = step() ?? (await this.inAnotherTask(step));
    call.runLocal?.sent();
    if (call.hidden !== true && call.resumed === undefined && call.reconcile !== true && isShown(call.path)) this.offset += 1;
    try {
      const result = await this.counted(
        this.schedule<CallToolResult>('callTool', input, {
          activityId: address,
          startToCloseTimeout: facts.timeoutMs,
          heartbeatTimeout: facts.heartbeatMs,
          retry: retryPolicy(once ? 1 : facts.attempts),
          cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        }),
      );
      const { outcome } = result;
      if ('messageId' in outcome && call.hidden !== true) this.ledger.learnId(outcome.messageId);
      return result;
    } catch (error) {
      if (isCancellation(error)) throw error;
      return { address, outcome: lostToolCall(call, error) };
    }
  }

  private schedule<Result>(type: string, input: unknown, options: ActivityOptions): Promise<Result> {
    this.calledAt = workflowInfo().historyLength;
    return scheduleActivity<Result>(type, [input], options);
  }

  /** A quick tool's call is in no command of its own: its start rides in the next one, like its end. */
  private async callQuick(call: ToolCallRequest): Promise<CallToolResult> {
    const { address, facts } = call;
    const input = toolInputOf(call);
    checkedBytes(input, `the call of tool "${call.tool}"`);
    if (call.hidden !== true && call.resumed === undefined) this.emit(toolStart(address, input));
    try {
      const result = await this.local.run<CallToolResult>('callTool', [input], facts.timeoutMs, facts.attempts);
      const { outcome } = result;
      if ('messageId' in outcome && call.hidden !== true) this.ledger.learnId(outcome.messageId);
      return result;
    } catch (error) {
      if (isCancellation(error)) throw error;
      return { address, outcome: lostToolCall(call, error) };
    }
  }

  async runChild(child: ChildRun): Promise<ChildEnd> {
    if (this.draining) await this.never();
    this.refuseWhenCancelled();
    const room = this.room.find(checkedBytes(child.start, `the start of the agent "${child.start.agent}"`));
    if (room !== undefined) await room;
    return this.counted(this.children.run(child));
  }

  answerChild(run: string, answer: Answer): void {
    this.room.takeBeside(jsonSize(answer));
    this.children.answer(run, answer);
  }

  isolatedDecide(): boolean {
    return patched(isolatedDecide);
  }

  emit(event: EventBody): void {
    if (event.type === 'interrupt-start' || event.type === 'interrupt-end') this.parentLine?.tell(event);
    if ('runPath' in event && !isShown(event.runPath)) return;
    if (event.type === 'custom' || event.type === 'agent-message') this.makeRoomForEvent(event);
    else if (event.type === 'tool-end' && !this.ledger.knows(event.message.id)) this.makeRoomInPayload(jsonSize(event));
    this.offset += 1;
    this.outbox.add(event);
    if ('message' in event) this.seen.told(event.runPath, event.message);
  }

  /** It is shown in the memo, and told in an event. */
  roomToShow(interrupt: Interrupt): Promise<void> | undefined {
    return this.room.wait(2 * jsonSize(interrupt));
  }

  showInterrupt(interrupt: Interrupt): void {
    this.room.takeBeside(2 * jsonSize(interrupt));
    this.writeMemo({ [interruptMemoPrefix + interrupt.id]: interrupt });
    if (this.waiting++ === 0) upsertSearchAttributes([{ key: statusKey, value: 'waiting' }]);
  }

  hideInterrupt(id: string): void {
    this.writeMemo({ [interruptMemoPrefix + id]: null });
    if (--this.waiting === 0) upsertSearchAttributes([{ key: statusKey, value: 'running' }]);
  }

  /** Writes the events that no command has taken along. */
  flush(): void {
    if (this.hasEvents) this.writeMemo({});
  }

  takeEvents(): ReturnType<Outbox['take']> {
    return this.outbox.take();
  }

  timer(at: number, interrupt?: Interrupt): Timer {
    const last = interrupt === undefined ? undefined : () => this.times.elsewhere(interrupt, this.found);
    return this.timeline.timer(at, last);
  }

  sleep(until: number): Timer {
    const scope = new CancellationScope();
    return { fired: this.slept(until, scope), cancel: () => scope.cancel() };
  }

  private async slept(until: number, scope: CancellationScope): Promise<void> {
    if (this.draining) await this.held();
    let timer = Promise.resolve();
    // The promise of the scope would come later than that of the timer, and others count on when it comes.
    scope.run(() => (timer = this.timeline.timer(until).fired)).catch(() => undefined);
    await this.asleep(timer);
  }

  private async asleep(timer: Promise<void>): Promise<void> {
    this.sleeping += 1;
    try {
      await timer;
      if (this.draining) await this.held();
    } finally {
      this.heard += 1;
      this.sleeping -= 1;
    }
  }

  afterHandlers(run: () => void): void {
    this.deferred.push(run);
  }

  /** Runs what waited for the handlers to be done. */
  runDeferred(): void {
    const runs = this.deferred;
    this.deferred = [];
    for (const run of runs) run();
  }

  now(): number {
    return this.timeline.now;
  }

  uuid(): string {
    return uuid4();
  }

  random(): number {
    return Math.random();
  }

  border(): Promise<void> | undefined {
    if (!this.wantsBorder() || this.children.size > 0) return undefined;
    this.parked = true;
    return Promise.race([this.never(), this.resumed]);
  }

  /** Nothing new starts from now on. */
  hold(): void {
    this.draining = true;
  }

  /** The run does not go on elsewhere after all. */
  goOn(): void {
    this.draining = false;
    this.parked = false;
    const { resume } = this;
    this.resumed = new Promise((resolve) => (this.resume = resolve));
    resume();
  }

  get cancelled(): boolean {
    return this.stopping || this.whole.consideredCancelled;
  }

  /** A call whose command is in no history yet would be taken back, with all that rides in it: it is told to stop when it has begun. */
  stop(): void {
    this.stopping = true;
    if (this.calledAt !== workflowInfo().historyLength) return this.whole.cancel();
    const cancel = (): void => this.whole.cancel();
    // Somebody else may cancel the run before the time is up.
    void this.room.nextTask().then(cancel, cancel);
  }

  /** Ends what was held back, so that a cancelled run can end. */
  release(): void {
    this.parked = false;
    this.ended.cancel();
  }

  /** No command would be made, and what it was to take along would be lost: it rides in the last one. */
  private refuseWhenCancelled(): void {
    if (this.cancelled) throw new CancelledFailure('The run was cancelled.');
  }

  /** News of an isolated agent for the run that it is part of, to go along with its end. */
  get lastNews(): Pick<AgentRunResult, 'news'> {
    const news = this.parentLine?.untold ?? [];
    return news.length === 0 ? {} : { news };
  }

  /** The last word of a run that was cancelled, to the one that it is part of. */
  tellParent(left: NonNullable<ChildNews['left']>): Promise<void> | undefined {
    return CancellationScope.nonCancellable(() => Promise.resolve(this.parentLine?.leave(left)));
  }

  /** The result of a local activity stands in the task that it ran in, and may be as large as a payload. */
  private mayStartLocal(): Promise<void> | undefined {
    if (this.draining) return this.held();
    return this.room.wait(0, 2)?.then(() => this.mayStartLocal());
  }

  private async held(): Promise<void> {
    while (this.draining) await Promise.race([this.never(), this.resumed]);
  }

  private never(): Promise<never> {
    return this.ended.run(() => this.ended.cancelRequested);
  }

  private async counted<T>(promise: Promise<T>): Promise<T> {
    this.pending += 1;
    try {
      return await promise;
    } finally {
      this.heard += 1;
      this.pending -= 1;
    }
  }

  private async coded<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      if (isCancellation(error)) throw error;
      throw errorOfActivity(error);
    }
  }

  private writeMemo(values: Readonly<Record<string, unknown>>): void {
    const { events } = this.takeEvents();
    upsertMemo(events === undefined ? values : { ...values, [names.memo.events]: events });
  }

  /** What one command takes along has to fit into one payload. */
  private makeRoomForEvent(event: EventBody): void {
    const bytes = jsonSize(event);
    this.room.takeForEvent(bytes);
    this.outbox.bytes += bytes;
    if (this.outbox.bytes <= limits.payload / 2) return;
    this.flush();
    // Of events of hooks it is not counted here, and open runs have been so all the time.
    if (event.type === 'agent-message') this.outbox.bytes = bytes;
  }

  /** The room in the task was asked for before. */
  private makeRoomInPayload(bytes: number): void {
    if (this.outbox.bytes + bytes > limits.payload / 2) this.flush();
    this.outbox.bytes += bytes;
  }

  /** Makes the input of a step. One that this task has no room for is undone, and nothing is returned. */
  private step<Input>(what: string, make: () => Input): Input | undefined {
    try {
      return this.outbox.step(() => {
        const input = make();
        const bytes = checkedBytes(input, what);
        if (!this.room.has(bytes)) throw noRoom;
        this.room.take(bytes);
        return input;
      });
    } catch (error) {
      if (error === noRoom) return undefined;
      throw error;
    }
  }

  /** What one task cannot carry is spread over several. */
  private async inAnotherTask<Input>(step: () => Input | undefined): Promise<Input> {
    for (;;) {
      await this.room.nextTask();
      if (this.draining) await this.held();
      this.refuseWhenCancelled();
      const input = step();
      if (input !== undefined) return input;
    }
  }

  roomFor(message: StoredMessage): Promise<void> | undefined {
    return this.ledger.knows(message.id) ? undefined : this.room.find(jsonSize(message));
  }

  /** The last command, which takes the events along; they stay for another one when it is refused. */
  end<Made>(make: (events: () => ReturnType<Outbox['take']>) => Made): Made {
    return this.outbox.end(() => make(() => this.outbox.take()));
  }
}

function valuesOf({ runLocal }: ModelCall): Pick<CallModelInput, 'runLocal'> {
  return runLocal === undefined ? {} : { runLocal: runLocal.edit };
}

function retryPolicy(attempts: number): {
  maximumAttempts: number;
  initialInterval: number;
  backoffCoefficient: number;
  maximumInterval: number;
} {
  return { maximumAttempts: attempts, initialInterval: 500, backoffCoefficient: 2, maximumInterval: 30_000 };
}
