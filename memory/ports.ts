import { isShown } from '../contract/record/agent-paths';
import { HoldfastError, codeOf, messageOf } from '../contract/errors';
import type { EventBody } from '../contract/events';
import type { Answer, Interrupt } from '../contract/interrupts';
import { jsonSize, limits } from '../contract/limits';
import type { Manifest, ManifestRequest } from '../contract/manifest';
import type { Json, StoredMessage } from '../contract/messages/messages';
import { messagesOfInput } from '../contract/messages/messages';
import { interruptMemoPrefix, names, workflowIdOf } from '../contract/names';
import type { RunLocalValues } from '../contract/run-local';
import { SeenMessages } from '../contract/record/seen-messages';
import { toolStart } from '../contract/record/tool-outcomes';
import type {
  AgentRunInput,
  CallModelInput,
  CallModelResult,
  CallToolInput,
  CallToolResult,
  ParseInputResult,
  ParseOutputResult,
  ToolOutcome,
} from '../contract/record/wire';
import { checkedBytes, toolInputOf } from '../kernel/run/call-inputs';
import { Ledger } from '../kernel/log/ledger';
import { Outbox } from '../kernel/log/outbox';
import type { ChildEnd, ChildRun, ModelCall, Ports, Timer, ToolCallRequest } from '../kernel/run/ports';
import type { MemoryChild } from './children';
import { MemoryChildren } from './children';
import type { VirtualClock } from './clock';
import type { MemoryRecord } from './record';
import { asJson } from './record';
import type { MemoryWork } from './work';
import { isCancellation } from '../kernel/effects/errors';

export interface MemoryWorld {
  readonly work: MemoryWork;
  readonly clock: VirtualClock;
  readonly record: MemoryRecord;
  /** Something came back or was written: the run may stand still now. */
  changed(): void;
  wantsBorder(): boolean;
  startChild(child: ChildRun): MemoryChild;
  /** Tells the run that this one is part of. Absent of one that somebody started. */
  readonly tellParent?: (event: EventBody) => void;
}

/** The kernel's ports in memory, with the record that Temporal would have and with virtual time. */
export class MemoryPorts implements Ports {
  readonly ledger: Ledger;
  readonly seen: SeenMessages;
  /** Calls that have not come back. */
  pending = 0;
  heard = 0;
  /** Sleeps, which a border may lie in. */
  sleeping = 0;
  /** The kernel stands at an iteration border and waits to go on elsewhere. */
  parked = false;
  readonly children = new MemoryChildren();
  private readonly outbox: Outbox;
  private left = false;
  private readonly timers = new Set<Timer>();
  private readonly workflowId: string;
  private cancel: () => void = () => undefined;
  private cancelError: HoldfastError | undefined;
  private readonly cancellation = new Promise<void>((resolve) => (this.cancel = resolve));

  constructor(
    input: AgentRunInput,
    private readonly world: MemoryWorld,
  ) {
    const { start, snapshot } = input;
    this.workflowId = workflowIdOf(start.tenant, start.id);
    this.seen = new SeenMessages(input);
    this.ledger = new Ledger(snapshot?.lists ?? { [start.agent]: messagesOfInput(start.input) ?? [] }, snapshot?.shown ?? []);
    this.outbox = new Outbox(this.ledger);
  }

  async prepare(request: ManifestRequest, messages: readonly StoredMessage[]): Promise<Manifest> {
    this.refuseWhenCancelled();
    return this.counted(() => this.orCancelled(this.world.work.prepare(asJson(request), asJson(messages))));
  }

  async parseInput(tool: string, input: Json): Promise<ParseInputResult> {
    this.refuseWhenCancelled();
    return this.counted(() => this.orCancelled(this.world.work.parseInput(asJson({ tool, input }))));
  }

  async parseOutput(output: string, text: string): Promise<ParseOutputResult> {
    this.refuseWhenCancelled();
    return this.counted(() => this.orCancelled(this.world.work.parseOutput({ output, text })));
  }

  async callModel(call: ModelCall): Promise<CallModelResult> {
    this.refuseWhenCancelled();
    const { work, record } = this.world;
    const { address, path, facts } = call;
    const input = this.step(`the model call ${address}`, (): CallModelInput => ({
      ...this.ledger.editFor(call),
      path,
      turn: call.turn,
      ...valuesOf(call),
      ...this.takeEvents(),
    }));
    call.runLocal?.sent();
    this.seen.asked(path, call.messages);
    const eventId = record.nextEventId();
    record.write({ kind: 'model-scheduled', eventId, activityId: address, input });
    try {
      // A model that is told to stop gives what it has said by then, or nothing; either way it comes back at once.
      const result = await this.recorded(
        eventId,
        work.callModel(record.requestOf(address), {
          workflowId: this.workflowId,
          address,
          path,
          facts,
          values: record.valuesOf(address),
          cancelled: this.cancellation,
        }),
      );
      this.ledger.learn(result.message);
      this.ledger.cameBack(call.path);
      return result;
    } catch (error) {
      if (this.cancelError !== undefined) throw this.cancelError;
      if (isCancellation(error)) throw error;
      const code = codeOf(error);
      const lost = code === undefined || code === 'run-failed' ? 'model-failed' : code;
      return { address, failed: { code: lost, message: messageOf(error), retryable: true } };
    }
  }

  async callTool(call: ToolCallRequest): Promise<CallToolResult> {
    this.refuseWhenCancelled();
    const { work, record } = this.world;
    const { address, path, facts } = call;
    if (facts.quick) return this.callQuick(call);
    const input = this.step(`the call of tool "${call.tool}"`, (): CallToolInput => ({ ...toolInputOf(call), ...this.takeEvents() }));
    call.runLocal?.sent();
    const eventId = record.nextEventId();
    record.write({ kind: 'tool-scheduled', eventId, activityId: address, input });
    const { workflowId, cancellation: cancelled } = this;
    const running = (): Promise<CallToolResult> =>
      work.callTool(asJson(input), { workflowId, address, path, facts, values: record.valuesOf(address), cancelled });
    try {
      // A `once` tool that was told to stop is waited for: only it knows how far it came.
      const result = await this.recorded(eventId, facts.effect === 'once' ? running() : this.orCancelled(running()));
      const { outcome } = result;
      if ('messageId' in outcome && call.hidden !== true) this.ledger.learnId(outcome.messageId);
      return result;
    } catch (error) {
      if (isCancellation(error)) throw error;
      return { address, outcome: lostToolCall(call, error) };
    }
  }

  /** A quick tool's call is in no command of its own: its start rides in the next one, like its end. */
  private async callQuick(call: ToolCallRequest): Promise<CallToolResult> {
    const { work, record } = this.world;
    const { address, path, facts } = call;
    const { workflowId, cancellation: cancelled } = this;
    const input = toolInputOf(call);
    const values = (input.runLocal?.set ?? {}) as RunLocalValues;
    checkedBytes(input, `the call of tool "${call.tool}"`);
    if (call.hidden !== true && call.resumed === undefined) this.emit(toolStart(address, input));
    try {
      const result = await this.counted(() =>
        this.orCancelled(work.callTool(asJson(input), { workflowId, address, path, facts, values: asJson(values), cancelled })),
      );
      if (!this.left) record.write({ kind: 'quick-completed', result });
      const { outcome } = result;
      if ('messageId' in outcome && call.hidden !== true) this.ledger.learnId(outcome.messageId);
      return result;
    } catch (error) {
      if (isCancellation(error)) throw error;
      return { address, outcome: lostToolCall(call, error) };
    }
  }

  async runChild(child: ChildRun): Promise<ChildEnd> {
    this.refuseWhenCancelled();
    try {
      return await this.children.run(child, (start) => this.world.startChild(start));
    } finally {
      this.heard += 1;
      this.world.changed();
    }
  }

  answerChild(run: string, answer: Answer): void {
    this.children.answer(run, answer);
  }

  isolatedDecide(): boolean {
    return true;
  }

  emit(event: EventBody): void {
    if (!this.left && (event.type === 'interrupt-start' || event.type === 'interrupt-end')) this.world.tellParent?.(event);
    if (this.left || ('runPath' in event && !isShown(event.runPath))) return;
    if (event.type === 'custom' || event.type === 'agent-message') this.makeRoomForEvent(event);
    this.outbox.add(event);
    if ('message' in event) this.seen.told(event.runPath, event.message);
    this.world.changed();
  }

  /** Memory has no tasks that could be full. */
  roomFor(): undefined {
    return undefined;
  }

  roomToShow(): undefined {
    return undefined;
  }

  showInterrupt(interrupt: Interrupt): void {
    this.writeMemo({ [interruptMemoPrefix + interrupt.id]: interrupt });
  }

  hideInterrupt(id: string): void {
    this.writeMemo({ [interruptMemoPrefix + id]: null });
  }

  /** Writes the events that no command has taken along. */
  flush(): void {
    if (!this.outbox.isEmpty) this.writeMemo({});
  }

  /** The last command, which takes the events along; they stay for another one when it is refused. */
  end<Made>(make: () => Made): Made {
    return this.outbox.end(make);
  }

  takeEvents(): ReturnType<Outbox['take']> {
    return this.outbox.take();
  }

  /** What one command takes along has to fit into one payload. */
  private makeRoomForEvent(event: EventBody): void {
    const bytes = jsonSize(event);
    if (bytes > limits.stepEvents)
      throw new HoldfastError('payload-too-large', `The events of one step have more than ${limits.stepEvents} bytes together.`);
    if (this.outbox.bytes + bytes > limits.payload / 2) this.flush();
    this.outbox.bytes += bytes;
  }

  private step<Input>(what: string, make: () => Input): Input {
    return this.outbox.step(() => {
      const input = make();
      checkedBytes(input, what);
      return input;
    });
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
    return { ...timer, fired: this.slept(timer) };
  }

  private async slept({ fired }: Timer): Promise<void> {
    this.sleeping += 1;
    try {
      await fired;
    } catch (error) {
      // Nothing wakes where the run went on elsewhere: on a server the code is not there any more.
      if (this.left) await new Promise<never>(() => undefined);
      throw error;
    } finally {
      this.heard += 1;
      this.sleeping -= 1;
      this.world.changed();
    }
  }

  afterHandlers(run: () => void): void {
    run();
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

  border(): Promise<void> | undefined {
    if (this.cancelError !== undefined) return Promise.reject(this.cancelError);
    if (!this.world.wantsBorder() || this.children.size > 0) return undefined;
    this.parked = true;
    this.world.changed();
    return this.orCancelled(new Promise<never>(() => undefined));
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
    return this.counted(async () => {
      try {
        const result = await work;
        if (!this.left) record.write({ kind: 'activity-completed', scheduledId, result });
        return result;
      } catch (error) {
        if (!this.left) record.write({ kind: 'activity-closed', scheduledId });
        throw error;
      }
    });
  }

  private async counted<T>(run: () => Promise<T>): Promise<T> {
    this.pending += 1;
    try {
      return asJson(await run());
    } finally {
      this.heard += 1;
      this.pending -= 1;
      this.world.changed();
    }
  }

  private writeMemo(values: Readonly<Record<string, unknown>>): void {
    if (this.left) return;
    const { events } = this.takeEvents();
    this.world.record.write({ kind: 'memo', values: events === undefined ? values : { ...values, [names.memo.events]: events } });
    this.world.changed();
  }
}

function valuesOf({ runLocal }: ModelCall): Pick<CallModelInput, 'runLocal'> {
  return runLocal === undefined ? {} : { runLocal: runLocal.edit };
}

/** Of a `once` tool nobody knows whether it took effect, unless the worker said that it does not have it. */
function lostToolCall(call: ToolCallRequest, error: unknown): ToolOutcome {
  const code = codeOf(error) ?? 'tool-failed';
  if (call.facts.effect === 'once' && code !== 'tool-unknown')
    return {
      type: 'unsettled',
      ...(code === 'tool-timeout' ? { timedOut: true } : code === 'tool-failed' ? {} : { why: messageOf(error) }),
    };
  return {
    type: 'failed',
    messageId: '',
    error: { code: code.startsWith('tool-') || code === 'hook-failed' ? code : 'tool-failed', message: messageOf(error) },
  };
}
