import { CancellationScope, CancelledFailure, sleep, upsertMemo, uuid4, workflowInfo } from '@temporalio/workflow';
import type { CancelRequest } from '../contract/cancel';
import type { EventBody } from '../contract/events';
import type { Answer, Interrupt } from '../contract/interrupts';
import { jsonSize } from '../contract/limits';
import { names } from '../contract/names';
import { defined } from '../contract/defined';
import type { Manifest, ManifestRequest } from '../contract/manifest';
import type { Json, StoredMessage } from '../contract/messages/messages';
import type { PolicyPlan, PolicyRequest } from '../contract/policies';
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
import { Commands } from '../kernel/log/commands';
import { orderOfPlaces } from '../kernel/log/order-of-places';
import { RunLog } from '../kernel/log/run-log';
import { openLimits } from '../kernel/run/interrupts/asleep';
import { checkedBytes } from '../kernel/run/call-inputs';
import { OnceCalls } from '../kernel/run/once-calls';
import type { ChildEnd, ChildRun, ModelCall, Ports, ThrownAt, Timer, ToolCallRequest } from '../kernel/run/ports';
import type { RunStanding } from '../kernel/run/standstill';
import type { RunState } from '../kernel/run/state';
import { Standstill } from '../kernel/run/standstill';
import { coded } from './activity-failures';
import { findElsewhere } from './answers-elsewhere';
import { Calls } from './calls';
import { Hold } from './hold';
import { activation } from './interceptors';
import { ListedStatus, withTimes } from './listed';
import { ShortActivities } from './short-activities';
import { ModelStops } from './model-stops';
import { RunNews } from './news';
import { ParentLine } from './parent-line';
import type { AskForCommand, PortsOwner } from './ports-owner';
import { TaskRoom } from './task-room';
import { Timeline } from './timeline';
import { TemporalChildren } from './temporal-children';
import { TurnBuilds } from './turn-builds';

/** For half an hour, as an MCP server may be down. Other failures are not tried again. */
const mostPreparations = 100;

/** Every wait is a command, and events for readers travel in the next command. */
export class TemporalPorts implements Ports {
  readonly log: RunLog;
  readonly children: TemporalChildren;
  readonly room = new TaskRoom(() => this.counted(this.ask('', () => sleep(1))));
  readonly timeline: Timeline;
  private readonly still = new Standstill();
  private readonly hold = new Hold();
  private readonly parentLine: ParentLine | undefined;
  private readonly commands: Commands;
  private readonly calls: Calls;
  private readonly short: ShortActivities;
  readonly onceCalls = new OnceCalls();
  private readonly stops: ModelStops | undefined;
  private readonly builds: TurnBuilds | undefined;
  readonly news: RunNews;
  readonly threw = (error: unknown, place: ThrownAt): void => this.news.threw(error, place);
  private readonly deferred: (() => void)[] = [];
  private openInterrupts: number;
  private readonly status = new ListedStatus();
  private stopping = false;
  private readonly whole = CancellationScope.current();

  constructor(
    private readonly input: AgentRunInput,
    state: RunState,
    private readonly owner: PortsOwner,
  ) {
    const { start, snapshot } = input;
    this.news = new RunNews(start.id);
    this.log = new RunLog(input, {
      writeMemo: (values) => upsertMemo(withTimes(values, this.timeline.now)),
      takeForEvent: (bytes) => this.room.takeForEvent(bytes),
      takeForStep: (bytes) => this.room.takeForStep(bytes),
    });
    this.commands = new Commands(this.log, orderOfPlaces(state), () => CancellationScope.nonCancellable(() => this.room.nextTask()));
    const ask: AskForCommand = (place, make) => this.ask(place, make);
    this.short = new ShortActivities({
      held: () => this.held(),
      ask: (place, bytes, make) => this.counted(ask(place, () => (this.room.takeForStep(bytes) ? make() : undefined))),
    });
    activation.add(this);
    this.children = new TemporalChildren(start, ask);
    this.timeline = new Timeline(ask, openLimits(snapshot));
    if (start.conversation !== undefined) {
      this.stops = new ModelStops();
      this.builds = new TurnBuilds(input, () => owner.move?.());
    }
    this.calls = new Calls(this, this.log, ask, this.stops);
    if (start.parent !== undefined)
      this.parentLine = new ParentLine(
        start,
        (sending) => this.counted(sending),
        (make) => ask('', make),
        (bytes) => this.room.take(bytes),
      );
    this.openInterrupts = ((snapshot?.state as { interrupts?: readonly unknown[] } | undefined)?.interrupts ?? []).length;
  }

  /** In the scope of the asking code. A scope that is cancelled by then makes no command. */
  private ask<T>(place: string, make: () => Promise<T> | undefined): Promise<T> {
    const scope = CancellationScope.current();
    return this.commands.ask(place, () => {
      if (scope.consideredCancelled) throw new CancelledFailure('The run was cancelled.');
      let hasRoom = true;
      const made = scope.run(async () => {
        const begun = make();
        hasRoom = begun !== undefined;
        return begun as Promise<T>;
      });
      return hasRoom ? made : undefined;
    });
  }

  get hasCommands(): boolean {
    return !this.hasDeferred && (!this.commands.isEmpty || this.status.hasChanged);
  }

  makeCommands(): void {
    this.status.show();
    this.commands.makeAll();
  }

  end(): void {
    this.commands.isEnding = true;
  }

  prepare(request: ManifestRequest): Promise<Manifest> {
    return this.timeline.entering(coded(this.short.run('', 'prepareRun', [request], 60_000, mostPreparations)));
  }

  parseInput(place: string, tool: string, input: Json, schema?: Json): Promise<ParseInputResult> {
    return coded(this.short.run(place, 'parseInput', [{ tool, input, ...defined({ schema }) }], 10_000));
  }

  planPolicy(place: string, request: PolicyRequest): Promise<PolicyPlan> {
    return coded(this.short.run(place, names.policyActivity, [request], 10_000));
  }

  parseOutput(place: string, output: string, text: string): Promise<ParseOutputResult> {
    return coded(this.short.run(place, 'parseOutput', [{ output, text }], 10_000));
  }

  callModel(call: ModelCall): Promise<CallModelResult> {
    return this.calls.model(call);
  }

  callTool(call: ToolCallRequest): Promise<CallToolResult> {
    return this.calls.tool(call);
  }

  readonly stopModel = (): void => {
    const stop = this.stops?.stopper();
    if (stop !== undefined) this.afterOwnTask(stop);
  };
  readonly beforeTurn = (): void => this.builds?.beforeTurn();
  readonly heardOfBuild = (newest: unknown): void => this.builds?.hear(newest);

  async runChild(child: ChildRun): Promise<ChildEnd> {
    if (this.hold.isOn) await this.hold.never();
    this.refuseWhenCancelled();
    const bytes = checkedBytes(child.start, `the start of the agent "${child.start.agent}"`);
    const { children } = this;
    const kept =
      child.resumes === true
        ? await this.short.run<KeptPoint | null>(child.place, names.pointActivity, [children.idOf(child)], 60_000)
        : null;
    return this.counted(children.run(child, kept, () => this.room.takeForStep(bytes)));
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
    if (event.type === 'turn-start' || event.type === 'turn-end') this.status.is = event.type === 'turn-start' ? 'running' : 'idle';
    this.log.emit(event);
  }

  roomFor(message: StoredMessage): Promise<void> | undefined {
    return this.log.knows(message.id) ? undefined : this.room.find(jsonSize(message));
  }

  /** The memo and an event both carry the interrupt. */
  roomToShow(interrupt: Interrupt): Promise<void> | undefined {
    return this.room.wait(2 * jsonSize(interrupt));
  }

  showInterrupt(interrupt: Interrupt): void {
    this.room.take(2 * jsonSize(interrupt));
    this.log.showInterrupt(interrupt);
    if (this.openInterrupts++ === 0) this.status.is = 'waiting';
  }

  hideInterrupt(id: string): void {
    this.log.hideInterrupt(id);
    if (--this.openInterrupts === 0) this.status.is = 'running';
  }

  /** A person may have answered an isolated agent before its timer ended. */
  timer(place: string, at: number): Timer {
    return this.timeline.timer(place, at, () =>
      findElsewhere(this.input.start, this.short, this.owner.asked(), (answer) => this.owner.found(answer)),
    );
  }

  sleep(place: string, until: number): Timer {
    const scope = new CancellationScope();
    return { fired: this.slept(scope, place, until), cancel: () => scope.cancel() };
  }

  private async slept(scope: CancellationScope, place: string, until: number): Promise<void> {
    await this.held();
    const timer = scope.run(() => this.timer(place, until).fired);
    await this.still.asleep(timer, () => this.held());
  }

  atRest(run: () => void): void {
    this.deferred.push(run);
  }

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

  standing(isAsked: boolean): RunStanding {
    return this.still.standing({ isBusy: this.hasDeferred || this.timeline.isBusy, isAsked });
  }

  checkpoint(): Promise<void> | undefined {
    if (!this.owner.wantsContinueAsNew() || this.children.size > 0) return undefined;
    this.still.park();
    return this.hold.nextGoingOn();
  }

  holdBack(): void {
    this.hold.begin();
  }

  held(): Promise<void> | undefined {
    return this.hold.isOn ? this.hold.over() : undefined;
  }

  counted<T>(call: Promise<T>): Promise<T> {
    return this.still.counted(call);
  }

  get isHeldBack(): boolean {
    return this.hold.isOn;
  }

  goOn(): void {
    this.still.leave();
    this.hold.goOn();
  }

  get cancelled(): boolean {
    return this.stopping || this.whole.consideredCancelled;
  }

  stop(): void {
    this.stopping = true;
    this.afterOwnTask(() => this.whole.cancel());
  }

  /** Core would withdraw a call that is cancelled in its own task, with its events, so the cancel waits for the next task. */
  private afterOwnTask(cancel: () => void): void {
    if (this.calls.madeAt !== workflowInfo().historyLength) return cancel();
    void this.room.nextTask().then(cancel, cancel);
  }

  /** In a marker, because a cancel carries no data, and the failure of an isolated agent stands in another history. */
  keep(point: RetryPoint, failed = false): Promise<unknown> {
    const kept: KeptPoint = { runId: workflowInfo().runId, point, ...(failed ? { failed: true } : {}) };
    return CancellationScope.nonCancellable(() => this.short.urgent('', names.keepActivity, [kept], 60_000, 10));
  }

  release(): void {
    this.still.leave();
    this.hold.end();
  }

  /** After a cancel no commands are made, so the last command carries the events. */
  refuseWhenCancelled(): void {
    if (this.cancelled) throw new CancelledFailure('The run was cancelled.');
  }

  get lastNews(): Pick<AgentRunResult, 'news'> {
    const news = this.parentLine?.untold ?? [];
    return news.length === 0 ? {} : { news };
  }

  tellParent(left: NonNullable<ChildNews['left']>): Promise<void> | undefined {
    return CancellationScope.nonCancellable(() => Promise.resolve(this.parentLine?.leave(left)));
  }
}
