import type { CancelRequest } from '../contract/cancel';
import { HoldfastError, codeOf, messageOf } from '../contract/errors';
import type { EventBody } from '../contract/events';
import { eventsOfInterrupts } from '../contract/events';
import type { Answer, Interrupt } from '../contract/interrupts';
import type { Manifest, ManifestRequest } from '../contract/manifest';
import type { Failure, Json } from '../contract/messages/messages';
import { workflowIdOf } from '../contract/names';
import type { PolicyPlan, PolicyRequest } from '../contract/policies';
import type { RunLocalValues } from '../contract/run-local';
import type {
  AgentRunInput,
  CallModelInput,
  CallModelResult,
  CallToolInput,
  CallToolResult,
  ParseInputResult,
  ParseOutputResult,
  StartInput,
} from '../contract/record/wire';
import { lostModelCall, lostToolCall } from '../kernel/calls/lost-calls';
import { isCancellation } from '../kernel/effects/errors';
import { RunLog } from '../kernel/log/run-log';
import type { ChildEnd, ChildRun, ModelCall, Ports, Timer, ToolCallRequest } from '../kernel/run/ports';
import { OnceCalls } from '../kernel/run/once-calls';
import type { RunStanding } from '../kernel/run/standstill';
import { Standstill } from '../kernel/run/standstill';
import { MemoryChildren } from './children';
import { MemoryModelStops } from './model-stops';
import { asJson } from './record';
import type { MemoryWorld } from './world';
import { logWriter } from './world';

/** The kernel's ports in memory, with the record that Temporal would have and with virtual time. */
export class MemoryPorts implements Ports {
  readonly log: RunLog;
  readonly children = new MemoryChildren();
  private readonly still: Standstill;
  private readonly stops = new MemoryModelStops();
  private left = false;
  private readonly atNextRest: (() => void)[] = [];
  private readonly timers = new Set<Timer>();
  readonly onceCalls = new OnceCalls();
  private readonly workflowId: string;
  private readonly start: StartInput;
  private cancel: () => void = () => undefined;
  private cancelError: HoldfastError | undefined;
  private readonly cancellation = new Promise<void>((resolve) => (this.cancel = resolve));

  constructor(
    input: AgentRunInput,
    private readonly world: MemoryWorld,
  ) {
    const { start } = input;
    this.start = start;
    this.workflowId = workflowIdOf(start.tenant, start.id);
    this.log = new RunLog(
      input,
      logWriter(world, () => this.left),
    );
    this.still = new Standstill(() => world.changed());
  }

  async prepare(request: ManifestRequest): Promise<Manifest> {
    this.refuseWhenCancelled();
    return this.counted(this.orCancelled(this.world.work.prepare(asJson(request))));
  }

  async parseInput(tool: string, input: Json): Promise<ParseInputResult> {
    this.refuseWhenCancelled();
    return this.counted(this.orCancelled(this.world.work.parseInput(asJson({ tool, input }))));
  }

  async planPolicy(request: PolicyRequest): Promise<PolicyPlan> {
    this.refuseWhenCancelled();
    return this.counted(this.orCancelled(this.world.work.planPolicy(asJson(request))));
  }

  async parseOutput(output: string, text: string): Promise<ParseOutputResult> {
    this.refuseWhenCancelled();
    return this.counted(this.orCancelled(this.world.work.parseOutput({ output, text })));
  }

  async callModel(call: ModelCall): Promise<CallModelResult> {
    this.refuseWhenCancelled();
    const { work, record } = this.world;
    const { workflowId, cancellation: cancelled } = this;
    const { address, path, facts } = call;
    const input = this.log.modelStep(call) as CallModelInput;
    const eventId = record.nextEventId();
    record.write({ kind: 'model-scheduled', eventId, activityId: address, input });
    const stop = this.stops.begin(path);
    try {
      // A model that is told to stop gives what it has said by then, or nothing; either way it comes back at once.
      const answer = work.callModel(record.requestOf(address), {
        workflowId,
        address,
        path,
        facts,
        values: record.valuesOf(address),
        start: this.start,
        cancelled: Promise.race([cancelled, stop.asked]),
        wait: (milliseconds) => this.pause(milliseconds),
      });
      const result = await this.recorded(eventId, answer);
      this.log.modelCameBack(call, result);
      return result;
    } catch (error) {
      if (this.cancelError !== undefined) throw this.cancelError;
      if (stop.isAsked) throw new HoldfastError('cancelled', 'The call of the model was stopped.');
      if (isCancellation(error)) throw error;
      return { address, failed: lostModelCall(lostIn(error), true) };
    } finally {
      this.stops.end(stop);
    }
  }

  stopModel(): void {
    this.stops.stop();
  }

  async callTool(call: ToolCallRequest): Promise<CallToolResult> {
    // A cancelled run still asks what became of calls that were cut off.
    if (call.reconcile !== true) this.refuseWhenCancelled();
    try {
      const result = await this.startTool(call);
      this.log.toolCameBack(call, result);
      return result;
    } catch (error) {
      if (isCancellation(error)) throw error;
      const lost = lostIn(error);
      return { address: call.address, outcome: lostToolCall(call, lost.code === 'tool-timeout' ? { ...lost, tookTooLong: true } : lost) };
    }
  }

  private startTool(call: ToolCallRequest): Promise<CallToolResult> {
    const { record } = this.world;
    const { address, facts } = call;
    const input = this.log.toolStep(call) as CallToolInput;
    const eventId = record.nextEventId();
    record.write({ kind: 'tool-scheduled', eventId, activityId: address, input });
    const running = this.runTool(call, input, record.valuesOf(address));
    // A `once` tool that was told to stop is waited for: only it knows how far it came.
    return this.recorded(eventId, facts.effect === 'once' ? this.onceCalls.counted(running) : this.orCancelled(running));
  }

  private runTool(call: ToolCallRequest, input: CallToolInput, values: RunLocalValues): Promise<CallToolResult> {
    const { address, path, facts } = call;
    const { workflowId } = this;
    const cancelled = call.reconcile === true ? never : this.cancellation;
    const wait = (milliseconds: number): Promise<void> => this.pause(milliseconds);
    return this.world.work.callTool(asJson(input), { workflowId, address, path, facts, values, start: this.start, cancelled, wait });
  }

  async runChild(child: ChildRun): Promise<ChildEnd> {
    this.refuseWhenCancelled();
    try {
      return await this.children.run(child, (start) => this.world.startChild(start));
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

  timer(at: number): Timer {
    const timer = this.world.clock.timer(at);
    this.timers.add(timer);
    const forget = (): void => void this.timers.delete(timer);
    timer.fired.then(forget, forget);
    return timer;
  }

  sleep(until: number): Timer {
    this.refuseWhenCancelled();
    const timer = this.timer(until);
    return { ...timer, fired: this.still.asleep(this.unlessLeft(timer.fired)) };
  }

  private pause(milliseconds: number): Promise<void> {
    return this.still.pausing(this.unlessLeft(this.timer(this.now() + milliseconds).fired));
  }

  /** Nothing wakes where the run went on elsewhere: on a server the code is not there any more. */
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

  /** Something waits until code rests. */
  get hasDeferred(): boolean {
    return this.atNextRest.length > 0;
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
    return this.orCancelled(new Promise<never>(() => undefined));
  }

  get nextOffset(): number {
    return this.log.nextOffset;
  }

  get heard(): number {
    return this.still.heard;
  }

  /** `isAsked`: the run has interrupts that somebody may answer. `isBusy`: some of its code has yet to run. */
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

  /** What it was cancelled with. */
  get stoppedWith(): HoldfastError | undefined {
    return this.cancelError;
  }

  /** Ends what waits, as cancelled. */
  stop(error: HoldfastError): void {
    this.cancelError = error;
    this.still.leave();
    this.cancel();
    for (const timer of this.timers) timer.cancel();
    this.children.cancel();
  }

  /** The run has ended or went on elsewhere: code that is left behind can do nothing more. */
  leave(): void {
    this.left = true;
    for (const timer of this.timers) timer.cancel();
    this.children.cancel();
  }

  private refuseWhenCancelled(): void {
    if (this.cancelError !== undefined) throw this.cancelError;
    if (this.left) throw new HoldfastError('outside-run', 'This run has ended.');
  }

  private orCancelled<T>(work: Promise<T>): Promise<T> {
    work.catch(() => undefined);
    return Promise.race([
      work,
      this.cancellation.then(() => {
        throw this.cancelError;
      }),
    ]);
  }

  private recorded<T>(scheduledId: number, work: Promise<T>): Promise<T> {
    const { record } = this.world;
    const ended = async (): Promise<T> => {
      try {
        const result = await work;
        if (!this.left) record.write({ kind: 'activity-completed', scheduledId, result });
        return result;
      } catch (error) {
        if (!this.left) record.write({ kind: 'activity-closed', scheduledId });
        throw error;
      }
    };
    return this.counted(ended());
  }

  private async counted<T>(work: Promise<T>): Promise<T> {
    return asJson(await this.still.counted(work));
  }
}

const never = new Promise<never>(() => undefined);

function lostIn(error: unknown): Failure {
  return { code: codeOf(error) ?? 'run-failed', message: messageOf(error) };
}
