import { CancellationScope, CancelledFailure, scheduleActivity, sleep, upsertMemo, uuid4, workflowInfo } from '@temporalio/workflow';
import type { CancelRequest } from '../contract/cancel';
import type { EventBody } from '../contract/events';
import type { Answer, Interrupt } from '../contract/interrupts';
import { jsonSize } from '../contract/limits';
import { names } from '../contract/names';
import type { Manifest, ManifestRequest, ModelFacts, ToolFacts } from '../contract/manifest';
import type { Json, StoredMessage } from '../contract/messages/messages';
import type {
  AgentRunInput,
  AgentRunResult,
  CallModelResult,
  CallToolResult,
  ChildNews,
  KeptPoint,
  ParseInputResult,
  ParseOutputResult,
  RetryPoint,
} from '../contract/record/wire';
import { isCancellation } from '../kernel/effects/errors';
import { RunLog } from '../kernel/log/run-log';
import { openLimits } from '../kernel/run/asleep';
import { checkedBytes } from '../kernel/run/call-inputs';
import { OnceCalls } from '../kernel/run/once-calls';
import type { ChildEnd, ChildRun, ModelCall, Ports, ThrownAt, Timer, ToolCallRequest } from '../kernel/run/ports';
import type { RunStanding } from '../kernel/run/standstill';
import { Standstill } from '../kernel/run/standstill';
import { coded, lostModelActivity } from './activity-failures';
import { activityOptions } from './activity-options';
import { findElsewhere } from './answers-elsewhere';
import { Hold } from './hold';
import { showStatus, withTimes } from './listed';
import { ShortActivities } from './short-activities';
import { ModelStops } from './model-stops';
import { RunNews } from './news';
import { ParentLine } from './parent-line';
import type { PortsOwner } from './ports-owner';
import { TaskRoom } from './task-room';
import { Timeline } from './timeline';
import { TemporalChildren } from './temporal-children';
import { ToolCalls } from './tool-calls';
import { TurnBuilds } from './turn-builds';

/** The kernel's ports on Temporal. Every waiting thing is a command; what readers see rides in the next one. */
export class TemporalPorts implements Ports {
  readonly log: RunLog;
  readonly children: TemporalChildren;
  readonly room = new TaskRoom(() => this.still.counted(sleep(1)));
  readonly timeline: Timeline;
  private readonly still = new Standstill();
  private readonly hold = new Hold();
  private readonly parentLine: ParentLine | undefined;
  private readonly short = new ShortActivities({
    mayStart: (bytes) => this.mayStart(bytes),
    counted: (promise) => this.still.counted(promise),
    isHeld: () => this.hold.isOn,
  });
  private readonly tools: ToolCalls;
  readonly onceCalls = new OnceCalls();
  private readonly stops: ModelStops | undefined;
  private readonly builds: TurnBuilds | undefined;
  readonly news: RunNews;
  readonly threw = (error: unknown, place: ThrownAt): void => this.news.threw(error, place);
  private readonly deferred: (() => void)[] = [];
  private openInterrupts: number;
  /** The task that the last call was made in, by the length that history has in it. */
  private calledAt = 0;
  private stopping = false;
  private readonly whole = CancellationScope.current();

  constructor(
    private readonly input: AgentRunInput,
    private readonly owner: PortsOwner,
  ) {
    const { start, snapshot } = input;
    this.news = new RunNews(start.id);
    this.log = new RunLog(input, {
      writeMemo: (values) => upsertMemo(withTimes(values, this.timeline.now)),
      takeForEvent: (bytes) => this.room.takeForEvent(bytes),
      takeForStep: (bytes) => this.room.takeForStep(bytes),
    });
    this.tools = new ToolCalls(this.log, {
      held: () => (this.hold.isOn ? this.hold.over() : undefined),
      refuseWhenCancelled: () => this.refuseWhenCancelled(),
      schedule: (address, given, facts) => this.still.counted(this.schedule<CallToolResult>('callTool', address, given, facts)),
      asksInSpite: ({ reconcile }) => reconcile === true && this.cancelled,
      counted: (call) => this.onceCalls.counted(call),
      inAnotherTask: (step, inSpite) => this.inAnotherTask(step, inSpite),
    });
    this.children = new TemporalChildren(start);
    this.timeline = new Timeline(openLimits(snapshot));
    if (start.conversation !== undefined) {
      this.stops = new ModelStops();
      this.builds = new TurnBuilds(input, () => owner.move?.());
    }
    if (start.parent !== undefined)
      this.parentLine = new ParentLine(
        start,
        (sending) => this.still.counted(sending),
        (bytes) => this.room.take(bytes),
      );
    this.openInterrupts = ((snapshot?.state as { interrupts?: readonly unknown[] } | undefined)?.interrupts ?? []).length;
  }

  prepare(request: ManifestRequest): Promise<Manifest> {
    return this.timeline.entering(coded(this.short.run('prepareRun', [request], 60_000)));
  }

  parseInput(tool: string, input: Json): Promise<ParseInputResult> {
    return coded(this.short.run('parseInput', [{ tool, input }], 10_000));
  }

  readonly planPolicy: Ports['planPolicy'] = (request) => coded(this.short.run(names.policyActivity, [request], 10_000));

  parseOutput(output: string, text: string): Promise<ParseOutputResult> {
    return coded(this.short.run('parseOutput', [{ output, text }], 10_000));
  }

  async callModel(call: ModelCall): Promise<CallModelResult> {
    if (this.hold.isOn) await this.hold.over();
    this.refuseWhenCancelled();
    const step = (): ReturnType<RunLog['modelStep']> => this.log.modelStep(call);
    const input = step() ?? (await this.inAnotherTask(step));
    try {
      const schedule = (): Promise<CallModelResult> => this.schedule('callModel', call.address, input, call.facts);
      // Of other runs nobody stops a model, and a scope would be one promise more.
      const result = await this.still.counted(this.stops === undefined ? schedule() : this.stops.run(call.path, schedule));
      this.log.modelCameBack(call, result);
      return result;
    } catch (error) {
      if (isCancellation(error)) throw error;
      return { address: call.address, failed: lostModelActivity(error) };
    }
  }

  readonly stopModel = (): void => this.stops?.stop();
  readonly beforeTurn = (): void => this.builds?.beforeTurn();
  /** A message brought the name of the newest build. */
  readonly heardOfBuild = (newest: unknown): void => this.builds?.hear(newest);

  /** Its own promise: how many stand between a result and the code that waits for it decides the order of commands. */
  callTool(call: ToolCallRequest): Promise<CallToolResult> {
    return this.tools.call(call);
  }

  private schedule<Result>(type: string, activityId: string, input: unknown, facts: ModelFacts | ToolFacts): Promise<Result> {
    this.calledAt = workflowInfo().historyLength;
    return scheduleActivity<Result>(type, [input], activityOptions(activityId, facts));
  }

  async runChild(child: ChildRun): Promise<ChildEnd> {
    if (this.hold.isOn) await this.hold.never();
    this.refuseWhenCancelled();
    const room = this.room.find(checkedBytes(child.start, `the start of the agent "${child.start.agent}"`));
    if (room !== undefined) await room;
    const kept =
      child.resumes === true ? await this.short.run<KeptPoint | null>(names.pointActivity, [this.children.idOf(child)], 60_000) : null;
    return this.still.counted(this.children.run(child, kept));
  }

  answerChild(run: string, answer: Answer): void {
    this.room.take(jsonSize(answer));
    this.children.answer(run, answer);
  }

  cancelChildren(request: CancelRequest, run?: string): void {
    this.children.ask(request, run);
  }

  emit(event: EventBody): void {
    this.parentLine?.tell(event);
    this.news.tell(event);
    if (event.type === 'turn-start' || event.type === 'turn-end') showStatus(event.type === 'turn-start' ? 'running' : 'idle');
    this.log.emit(event);
  }

  roomFor(message: StoredMessage): Promise<void> | undefined {
    return this.log.knows(message.id) ? undefined : this.room.find(jsonSize(message));
  }

  /** It is shown in the memo, and told in an event. */
  roomToShow(interrupt: Interrupt): Promise<void> | undefined {
    return this.room.wait(2 * jsonSize(interrupt));
  }

  showInterrupt(interrupt: Interrupt): void {
    this.room.take(2 * jsonSize(interrupt));
    this.log.showInterrupt(interrupt);
    if (this.openInterrupts++ === 0) showStatus('waiting');
  }

  hideInterrupt(id: string): void {
    this.log.hideInterrupt(id);
    if (--this.openInterrupts === 0) showStatus('running');
  }

  /** Whatever ends in an isolated agent, somebody may have answered before. */
  timer(at: number): Timer {
    return this.timeline.timer(at, () =>
      findElsewhere(this.input.start, this.short, this.owner.asked(), (answer) => this.owner.found(answer)),
    );
  }

  sleep(until: number): Timer {
    const scope = new CancellationScope();
    return { fired: this.slept(until, scope), cancel: () => scope.cancel() };
  }

  private async slept(until: number, scope: CancellationScope): Promise<void> {
    if (this.hold.isOn) await this.hold.over();
    let timer = Promise.resolve();
    // The promise of the scope would come later than that of the timer, and others count on when it comes.
    scope.run(() => (timer = this.timer(until).fired)).catch(() => undefined);
    await this.still.asleep(timer, () => (this.hold.isOn ? this.hold.over() : undefined));
  }

  atRest(run: () => void): void {
    this.deferred.push(run);
  }

  /** Whether something waits until code rests. */
  get hasDeferred(): boolean {
    return this.deferred.length > 0;
  }

  runDeferred(): void {
    this.deferred.shift()?.();
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

  get nextOffset(): number {
    return this.log.nextOffset;
  }

  get heard(): number {
    return this.still.heard;
  }

  /** `isAsked`: the run has interrupts that somebody may answer. */
  standing(isAsked: boolean): RunStanding {
    return this.still.standing({ isBusy: this.hasDeferred || this.timeline.isBusy, isAsked });
  }

  checkpoint(): Promise<void> | undefined {
    if (!this.owner.wantsContinueAsNew() || this.children.size > 0) return undefined;
    this.still.park();
    return this.hold.nextGoingOn();
  }

  /** Nothing new starts from now on: the run is about to go on elsewhere. */
  holdBack(): void {
    this.hold.begin();
  }

  get isHeldBack(): boolean {
    return this.hold.isOn;
  }

  /** The run does not go on elsewhere after all. */
  goOn(): void {
    this.still.leave();
    this.hold.goOn();
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

  /** Keeps what the run goes on with in a marker: a cancel carries nothing, and the failure of an isolated agent is in another history, too. */
  keep(point: RetryPoint, failed = false): Promise<unknown> {
    const kept: KeptPoint = { runId: workflowInfo().runId, point, ...(failed ? { failed: true } : {}) };
    return CancellationScope.nonCancellable(() => this.short.urgent(names.keepActivity, [kept], 60_000, 10));
  }

  /** Ends what was held back, so that a cancelled run can end. */
  release(): void {
    this.still.leave();
    this.hold.end();
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

  private mayStart(bytes: number): Promise<void> | undefined {
    if (this.hold.isOn) return this.hold.over().then(() => this.mayStart(bytes));
    return this.room.find(bytes);
  }

  /** What one task cannot carry is spread over several. */
  private async inAnotherTask<Input>(step: () => Input | undefined, inSpite = false): Promise<Input> {
    for (;;) {
      await this.room.nextTask();
      if (this.hold.isOn) await this.hold.over();
      if (!inSpite) this.refuseWhenCancelled();
      const input = step();
      if (input !== undefined) return input;
    }
  }
}
