import type { Author } from '../../contract/access';
import type { CancelRequest } from '../../contract/cancel';
import type { ConversationCommand, ConversationReply } from '../../contract/conversations';
import { HoldfastError } from '../../contract/errors';
import type { EventBody, RunEvent, RunView } from '../../contract/events';
import type { HistoryFact } from '../../contract/record/history-fact';
import type { Answer } from '../../contract/interrupts';
import { interruptIdAt } from '../../contract/interrupts';
import { workflowIdOf } from '../../contract/names';
import { packedSnapshot, unpackedInput } from '../../contract/record/snapshot-messages';
import type { AgentRunInput, Snapshot } from '../../contract/record/wire';
import type { Failure } from '../../contract/messages/messages';
import type { AnyAgent } from '../../kernel/define/definition';
import type { ChildEnd, ChildRun } from '../../kernel/run/ports';
import { AgentRun } from '../../kernel/engine/run';
import { childEndOf, resultOfRun } from '../../kernel/engine/run-result';
import { leftOf } from '../../kernel/run/run-end';
import { stalledError } from '../../kernel/run/standstill';
import type { RunState } from '../../kernel/run/state';
import { freshState, restoredState } from '../../kernel/run/state';
import { VirtualClock } from './clock';
import { MemoryPorts } from './ports';
import { MemoryRecord, asJson } from './record';
import type { Stretch } from './stretch';
import type { MemoryWork } from './work';
import { failedEnd, pointOf, snapshotBehindEnd } from './retry';
import { isCancellation } from '../../kernel/effects/errors';
import { cancelStretch } from './stretch';
import { busyWith, failureOfTrial } from './upgrade';

interface MemoryParent {
  readonly run: MemoryRun;
  readonly clock: VirtualClock;
  hear(events: readonly EventBody[]): void;
  moved(): void;
}

export type Agents = ReadonlyMap<string, AnyAgent>;

export class MemoryRun {
  readonly clock: VirtualClock;
  private readonly record: MemoryRecord;
  private parent: MemoryParent | undefined;
  private point: Snapshot | HoldfastError | undefined;
  private readonly workflowId: string;
  private stretch: Stretch;
  /** The last answer, with all code that it woke. */
  private turn: Promise<unknown> = Promise.resolve();
  private nextAgents: Agents | undefined;
  private checking = false;
  private continued = 0;
  private stands = false;
  private stood: () => void = () => undefined;
  private standing = new Promise<void>((resolve) => (this.stood = resolve));
  private finish: (end: ChildEnd) => void = () => undefined;
  end = new Promise<ChildEnd>((resolve) => (this.finish = resolve));
  /** Isolated agents by run id, even ended agents. */
  readonly children = new Map<string, MemoryRun>();

  constructor(
    private agents: Agents,
    input: AgentRunInput,
    private readonly work: MemoryWork,
    /** The time of a root run. */
    begins: number | MemoryParent,
  ) {
    this.parent = typeof begins === 'number' ? undefined : begins;
    const { tenant, id } = input.start;
    this.clock = typeof begins === 'number' ? new VirtualClock(begins) : begins.clock;
    this.record = new MemoryRecord(() => this.clock.now, input.snapshot?.nextOffset ?? 0);
    this.workflowId = workflowIdOf(tenant, id);
    this.stretch = this.enter(asJson(input));
  }

  get events(): readonly RunEvent[] {
    return this.record.events;
  }

  get facts(): readonly HistoryFact[] {
    return this.record.facts;
  }

  get ended(): boolean {
    return this.record.ended;
  }

  get standsStill(): boolean {
    return this.stands;
  }

  get more(): Promise<void> {
    return this.record.more;
  }

  view(): RunView {
    return this.record.view();
  }

  async idle(): Promise<void> {
    while (!this.stands) await this.standing;
  }

  refusalOf(answer: Answer): Failure | undefined {
    return this.stretch.run.refusalOf(asJson(answer));
  }

  /**
   * Returns the refusal, if any. The root run also shows the interrupts of isolated agents, so only one of two simultaneous answers is
   * taken.
   */
  take(answer: Answer): Promise<Failure | undefined> {
    return this.inTurn(() => this.takeNow(answer));
  }

  converse(command: ConversationCommand): Promise<ConversationReply> {
    return this.inTurn(() => (this.changed(), this.stretch.run.converse(asJson(command))));
  }

  signal(answer: Answer): Promise<void> {
    return this.inTurn(() => this.answer(answer));
  }

  /** Takes an answer after all code of the previous answer has run. */
  private inTurn<T>(act: () => T): Promise<T> {
    const { root } = this;
    const acted = root.turn.then(act);
    const rest = async (): Promise<void> => {
      do await this.work.settle();
      while (root.hasDeferred);
    };
    root.turn = acted.then(rest, () => undefined);
    // A reader after the call sees its effects.
    return root.turn.then(() => acted);
  }

  private get hasDeferred(): boolean {
    return this.stretch.ports.hasDeferred || [...this.children.values()].some((child) => child.hasDeferred);
  }

  private takeNow(answer: Answer): Failure | undefined {
    const refused = this.refusalOf(answer);
    if (refused !== undefined) return refused;
    if (this.ended) return { code: 'run-ended', message: `The run "${this.view().id}" has ended (${this.view().status}).` };
    const { root } = this;
    const there = this.answerInRoot(answer);
    const refusedThere = there === undefined ? undefined : root.refusalOf(there);
    if (there === undefined || refusedThere?.code === 'interrupt-unknown') this.answer(answer);
    else if (refusedThere === undefined) root.answer(there);
    else return refusedThere;
    return undefined;
  }

  private get root(): MemoryRun {
    return this.parent?.run.root ?? this;
  }

  private answerInRoot(answer: Answer): Answer | undefined {
    const { input, run } = this.stretch;
    const { path } = input.start.parent ?? {};
    const interrupt = run.interrupts.find(({ id }) => id === answer.interruptId);
    return path === undefined || interrupt === undefined ? undefined : { ...answer, interruptId: interruptIdAt(path, interrupt) };
  }

  /** Takes an answer like a signal: a misfit only leaves an event. */
  answer(answer: Answer): void {
    if (this.ended) return;
    this.changed();
    this.stretch.run.answer(asJson(answer));
  }

  async cancel(request?: CancelRequest): Promise<void> {
    if (this.ended) return;
    this.changed();
    cancelStretch(this.stretch, this.clock.now, request);
    // A reader after the call sees its effects.
    if (request !== undefined) await this.work.settle();
  }

  /** Each timer fires after all code of the previous timer has run. */
  async advance(milliseconds: number): Promise<void> {
    await this.idle();
    const until = this.clock.now + milliseconds;
    while (!this.ended && this.clock.fireNext(until)) {
      this.stir();
      await this.idle();
    }
    this.clock.fireNext(until);
  }

  /** Continues as new when no call is open. Settles when the run rests. */
  async goOnAsNew(agents: Agents = this.agents): Promise<void> {
    this.askForContinueAsNew(agents);
    await this.idle();
  }

  private askForContinueAsNew(agents: Agents): void {
    this.nextAgents = agents;
    this.changed();
    for (const child of this.children.values()) if (!child.ended) child.askForContinueAsNew(agents);
  }

  private stir(): void {
    this.changed();
    for (const child of this.children.values()) if (!child.ended) child.stir();
  }

  private startChild({ start, hear, resumes }: ChildRun): MemoryRun {
    const before = resumes === true ? this.children.get(start.id) : undefined;
    if (before?.point instanceof HoldfastError) throw before.point;
    if (before?.point !== undefined) return before.resumed(hear, this.agents);
    const child = new MemoryRun(this.agents, { start }, this.work, { run: this, clock: this.clock, hear, moved: () => this.changed() });
    this.children.set(start.id, child);
    return child;
  }

  /** If the trial fails, returns the failure and keeps the old code. */
  async upgrade(agents: Agents): Promise<Failure | undefined> {
    await this.idle();
    if (this.ended) return { code: 'run-ended', message: 'The run has ended.' };
    const busy = busyWith([...this.children].filter(([, child]) => !child.ended).map(([id]) => id));
    if (busy !== undefined) return busy;
    const failure = await failureOfTrial(agents, this.stretch.run, this.work, this.clock.now);
    if (failure === undefined) await this.goOnAsNew(agents);
    return failure;
  }

  /** Goes on after a failure or cancel. */
  async goOnBehindEnd(how: 'run-retry' | 'run-resume', agents: Agents = this.agents, author?: Author): Promise<void> {
    await this.idle();
    this.enterBehindEnd(how, agents, author);
  }

  /** An isolated agent that was cancelled with its parent, or failed, goes on where it stood. */
  private resumed(hear: ChildRun['hear'], agents: Agents): this {
    if (this.parent !== undefined) this.parent = { ...this.parent, hear };
    this.end = new Promise<ChildEnd>((resolve) => (this.finish = resolve));
    this.enterBehindEnd(this.view().status === 'failed' ? 'run-retry' : 'run-resume', agents);
    return this;
  }

  private enterBehindEnd(how: 'run-retry' | 'run-resume', agents: Agents, author?: Author): void {
    const snapshot = snapshotBehindEnd(this.view(), this.point, how, author);
    this.agents = agents;
    this.stretch = this.enter(asJson({ start: this.stretch.input.start, snapshot }));
  }

  private enter(given: AgentRunInput): Stretch {
    const input = unpackedInput(given);
    const { start, snapshot } = input;
    this.record.write({ kind: 'start', workflowId: this.workflowId, input });
    const state = snapshot === undefined ? freshState(start) : restoredState(snapshot.state as RunState, snapshot.lists);
    const ports = new MemoryPorts(input, state, {
      work: this.work,
      clock: this.clock,
      record: this.record,
      changed: () => this.changed(),
      wantsContinueAsNew: () => this.nextAgents !== undefined,
      startChild: (child: ChildRun) => this.startChild(child),
      ...(this.parent === undefined ? {} : { tellParent: (event: EventBody) => this.parent?.hear([event]) }),
    });
    const run = new AgentRun(this.agents, state, ports);
    let stall: (error: HoldfastError) => void = () => undefined;
    const stalled = new Promise<never>((_, reject) => (stall = reject));
    const stretch: Stretch = { input, ports, run, stall };
    void this.live(stretch, stalled);
    this.changed();
    return stretch;
  }

  private async live(stretch: Stretch, stalled: Promise<never>): Promise<void> {
    const { ports, run, input } = stretch;
    try {
      const end = await Promise.race([run.execute(), stalled]);
      await ports.end();
      const result = resultOfRun({ run, log: ports.log, start: input.start, end });
      this.close(stretch, { kind: 'end', status: 'completed', result }, childEndOf(result));
    } catch (error) {
      await ports.end();
      run.endQuestions();
      if (isCancellation(error)) await ports.onceCalls.ended(() => this.work.settle());
      ports.log.flush();
      this.point = pointOf(run, ports.log, error);
      const { fact, end } = failedEnd(error, this.point, leftOf(run.state, input.start.session));
      this.close(stretch, fact, end);
    }
  }

  private close(stretch: Stretch, fact: Parameters<MemoryRecord['write']>[0], end: ChildEnd): void {
    if (this.stretch !== stretch) return;
    stretch.ports.leave();
    this.record.write(fact);
    this.work.ending?.(this.workflowId, new Set(this.events.flatMap((event) => (event.type === 'model-end' ? (event.address ?? []) : []))));
    this.finish(end);
    this.changed();
  }

  private changed(): void {
    if (this.stands) {
      this.stands = false;
      this.standing = new Promise((resolve) => (this.stood = resolve));
      this.parent?.moved();
    }
    if (this.checking) return;
    this.checking = true;
    void this.work.settle().then(() => {
      this.checking = false;
      this.check();
    });
  }

  private check(): void {
    const { ports, run, stall } = this.stretch;
    if (this.ended) return this.stand();
    if (ports.makeCommands()) return this.changed();
    if (ports.isEnding) return;
    const { nextAgents, checking } = this;
    const standing = ports.standing(run.waitingFor > 0, checking);
    if (standing === 'working') return;
    if (standing === 'waiting' && run.stopWaiting()) return this.changed();
    const mayContinueAsNew = standing !== 'stalled' && ports.children.size === 0 && !ports.cancelled;
    if (nextAgents !== undefined && mayContinueAsNew) return this.cross(nextAgents);
    if (standing !== 'stalled') return this.stand();
    stall(ports.stoppedWith ?? stalledError(run.openCode));
    this.changed();
  }

  private cross(agents: Agents): void {
    const { input, ports, run } = this.stretch;
    const snapshot = ports.log.continueAsNew(run.snapshot(), packedSnapshot);
    this.nextAgents = undefined;
    this.continued += 1;
    this.agents = agents;
    ports.leave();
    this.record.write({ kind: 'continued', nextRunId: `stretch-${this.continued}` });
    this.stretch = this.enter(asJson({ start: input.start, snapshot }));
  }

  private stand(): void {
    this.stands = true;
    this.stood();
    this.parent?.moved();
  }
}
