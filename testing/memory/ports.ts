import { defined } from '../../contract/defined';
import type { CancelRequest } from '../../contract/cancel';
import { HoldfastError } from '../../contract/errors';
import type { EventBody } from '../../contract/events';
import { eventsOfInterrupts } from '../../contract/events';
import type { Answer, Interrupt } from '../../contract/interrupts';
import type { Manifest, ManifestRequest } from '../../contract/manifest';
import type { Json } from '../../contract/messages/messages';
import type { PolicyPlan, PolicyRequest } from '../../contract/policies';
import type { AgentRunInput, CallModelResult, CallToolResult, ParseInputResult, ParseOutputResult } from '../../contract/record/wire';
import { lostModelCall, lostToolCall } from '../../kernel/calls/lost-calls';
import { Commands } from '../../kernel/log/commands';
import { orderOfPlaces } from '../../kernel/log/order-of-places';
import { RunLog } from '../../kernel/log/run-log';
import type { ChildEnd, ChildRun, ModelCall, Ports, Timer, ToolCallRequest } from '../../kernel/run/ports';
import { OnceCalls } from '../../kernel/run/once-calls';
import type { RunStanding } from '../../kernel/run/standstill';
import { Standstill } from '../../kernel/run/standstill';
import type { RunState } from '../../kernel/run/state';
import { MemoryChildren } from './children';
import { LostCall, MemoryCalls } from './calls';
import { MemoryModelStops } from './model-stops';
import { asJson } from './record';
import type { MemoryWorld } from './world';
import { logWriter } from './world';

/** Temporal's record, with virtual time. */
export class MemoryPorts implements Ports {
  readonly log: RunLog;
  readonly children = new MemoryChildren();
  private readonly still: Standstill;
  private readonly stops = new MemoryModelStops();
  private readonly calls: MemoryCalls;
  private readonly commands: Commands;
  private left = false;
  private readonly atNextRest: (() => void)[] = [];
  private readonly timers = new Set<Timer>();
  readonly onceCalls = new OnceCalls();
  private cancel: () => void = () => undefined;
  private cancelError: HoldfastError | undefined;
  private readonly cancellation = new Promise<void>((resolve) => (this.cancel = resolve));

  constructor(
    input: AgentRunInput,
    state: RunState,
    private readonly world: MemoryWorld,
  ) {
    this.log = new RunLog(
      input,
      logWriter(world, () => this.left),
    );
    this.commands = new Commands(this.log, orderOfPlaces(state), () => Promise.resolve());
    this.calls = new MemoryCalls(input.start, this.log, world, {
      cancellation: this.cancellation,
      cancelError: () => this.cancelError,
      hasLeft: () => this.left,
      pause: (milliseconds) => this.pause(milliseconds),
    });
    this.still = new Standstill(() => world.changed());
  }

  private ask<T>(place: string, make: () => Promise<T>): Promise<T> {
    const asked = this.commands.ask(place, make);
    this.world.changed();
    return asked;
  }

  private askUnlessCancelled<T>(place: string, make: () => Promise<T>): Promise<T> {
    this.refuseWhenCancelled();
    return this.ask(place, () => {
      this.refuseWhenCancelled();
      return make();
    });
  }

  makeCommands(): boolean {
    if (this.atNextRest.length > 0 || !this.hasCommands) return false;
    this.commands.makeAll();
    return true;
  }

  private get hasCommands(): boolean {
    return !this.left && !this.commands.isEmpty;
  }

  get isEnding(): boolean {
    return this.commands.isEnding;
  }

  async end(): Promise<void> {
    const { work } = this.world;
    this.commands.isEnding = true;
    do await work.settle();
    while (this.makeCommands() || this.atNextRest.length > 0);
  }

  async prepare(request: ManifestRequest): Promise<Manifest> {
    return this.asked('', () => this.world.work.prepare(asJson(request)));
  }

  async parseInput(place: string, tool: string, input: Json, schema?: Json): Promise<ParseInputResult> {
    return this.asked(place, () => this.world.work.parseInput(asJson({ tool, input, ...defined({ schema }) })));
  }

  async planPolicy(place: string, request: PolicyRequest): Promise<PolicyPlan> {
    return this.asked(place, () => this.world.work.planPolicy(asJson(request)));
  }

  async parseOutput(place: string, output: string, text: string): Promise<ParseOutputResult> {
    return this.asked(place, () => this.world.work.parseOutput({ output, text }));
  }

  private asked<T>(place: string, ask: () => Promise<T>): Promise<T> {
    return this.counted(this.askUnlessCancelled(place, () => this.calls.orCancelled(ask())));
  }

  async callModel(call: ModelCall): Promise<CallModelResult> {
    const { address, path } = call;
    const stop = this.stops.begin(path);
    try {
      const result = await this.counted(this.askUnlessCancelled(address, () => this.calls.startModel(call, stop)));
      this.log.modelCameBack(call, result);
      return result;
    } catch (error) {
      if (this.cancelError !== undefined) throw this.cancelError;
      if (stop.isAsked) throw new HoldfastError('cancelled', 'The call of the model was stopped.');
      if (!(error instanceof LostCall)) throw error;
      return { address, failed: lostModelCall(error.failure, true) };
    } finally {
      this.stops.end(stop);
    }
  }

  stopModel(): void {
    this.stops.stop();
  }

  async callTool(call: ToolCallRequest): Promise<CallToolResult> {
    const { address, facts, reconcile } = call;
    const start = (): Promise<CallToolResult> => this.calls.startTool(call);
    try {
      // A cancelled run still asks about cut-off calls.
      const made = this.counted(reconcile === true ? this.ask(address, start) : this.askUnlessCancelled(address, start));
      const result = await (facts.effect === 'once' ? this.onceCalls.counted(made) : made);
      this.log.toolCameBack(call, result);
      return result;
    } catch (error) {
      if (!(error instanceof LostCall)) throw error;
      const lost = error.failure;
      return { address, outcome: lostToolCall(call, lost.code === 'tool-timeout' ? { ...lost, tookTooLong: true } : lost) };
    }
  }

  async runChild(child: ChildRun): Promise<ChildEnd> {
    try {
      return await this.askUnlessCancelled(child.place, () => this.children.run(child, (start) => this.world.startChild(start)));
    } finally {
      this.still.cameBack();
    }
  }

  answerChild(run: string, answer: Answer): void {
    this.children.answer(run, answer);
  }

  cancelChildren(request: CancelRequest, run?: string): void {
    this.children.ask(request, run);
  }

  emit(event: EventBody): void {
    if (this.left) return;
    if (eventsOfInterrupts.includes(event.type)) this.world.tellParent?.(event);
    this.log.emit(event);
    this.world.changed();
  }

  roomFor(): undefined {
    return undefined;
  }

  roomToShow(): undefined {
    return undefined;
  }

  showInterrupt(interrupt: Interrupt): void {
    this.log.showInterrupt(interrupt);
  }

  hideInterrupt(id: string): void {
    this.log.hideInterrupt(id);
  }

  timer(place: string, at: number): Timer {
    let made: Timer | undefined;
    let isCancelled = false;
    const fired = this.ask(place, () => {
      made = this.world.clock.timer(at);
      if (isCancelled) made.cancel();
      return made.fired;
    });
    const timer: Timer = {
      fired,
      cancel: () => {
        isCancelled = true;
        made?.cancel();
      },
    };
    this.timers.add(timer);
    const forget = (): void => void this.timers.delete(timer);
    fired.then(forget, forget);
    return timer;
  }

  sleep(place: string, until: number): Timer {
    this.refuseWhenCancelled();
    const timer = this.timer(place, until);
    return { ...timer, fired: this.still.asleep(this.unlessLeft(timer.fired)) };
  }

  private pause(milliseconds: number): Promise<void> {
    return this.still.pausing(this.unlessLeft(this.timer('', this.now() + milliseconds).fired));
  }

  /** On a server the code of an earlier execution is gone, so timers must not wake it. */
  private unlessLeft(fired: Promise<void>): Promise<void> {
    return fired.catch((error: unknown) => {
      if (this.left) return new Promise<never>(() => undefined);
      throw error;
    });
  }

  atRest(run: () => void): void {
    this.atNextRest.push(run);
    if (this.atNextRest.length === 1) this.awaitRest();
  }

  get hasDeferred(): boolean {
    return this.atNextRest.length > 0 || this.hasCommands || (this.isEnding && !this.left && this.onceCalls.size === 0);
  }

  private awaitRest(): void {
    void this.world.work.settle().then(() => {
      if (!this.left) this.atNextRest[0]?.();
      this.atNextRest.shift();
      if (this.atNextRest.length > 0) this.awaitRest();
      this.world.changed();
    });
  }

  now(): number {
    return this.world.clock.now;
  }

  uuid(): string {
    return this.world.record.uuid();
  }

  random(): number {
    return this.world.record.random();
  }

  checkpoint(): Promise<void> | undefined {
    if (this.cancelError !== undefined) return Promise.reject(this.cancelError);
    if (!this.world.wantsContinueAsNew() || this.children.size > 0) return undefined;
    this.still.park();
    return this.calls.orCancelled(new Promise<never>(() => undefined));
  }

  get nextOffset(): number {
    return this.log.nextOffset;
  }

  get heard(): number {
    return this.still.heard;
  }

  /** `isAsked`: the run has open interrupts. `isBusy`: some code has yet to run. */
  standing(isAsked: boolean, isBusy: boolean): RunStanding {
    const { children } = this;
    return this.still.standing({
      isBusy: isBusy || this.hasDeferred || !children.standStill,
      isAsked: isAsked || children.size > 0,
    });
  }

  get cancelled(): boolean {
    return this.cancelError !== undefined;
  }

  get stoppedWith(): HoldfastError | undefined {
    return this.cancelError;
  }

  stop(error: HoldfastError): void {
    this.cancelError = error;
    this.still.leave();
    this.cancel();
    for (const timer of this.timers) timer.cancel();
    this.children.cancel();
  }

  /** After the end or a continue-as-new, remaining code has no effect. */
  leave(): void {
    this.left = true;
    for (const timer of this.timers) timer.cancel();
    this.children.cancel();
  }

  private refuseWhenCancelled(): void {
    if (this.cancelError !== undefined) throw this.cancelError;
    if (this.left) throw new HoldfastError('outside-run', 'This run has ended.');
  }

  private async counted<T>(work: Promise<T>): Promise<T> {
    return asJson(await this.still.counted(work));
  }
}
