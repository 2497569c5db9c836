import type { ConversationCommand, ConversationReply } from '../../contract/conversations';
import { defined } from '../../contract/defined';
import { HoldfastError, messageOf } from '../../contract/errors';
import type { Answer, Interrupt } from '../../contract/interrupts';
import { interruptId } from '../../contract/interrupts';
import type { Manifest } from '../../contract/manifest';
import type { Failure, StoredMessage } from '../../contract/messages/messages';
import { messagesOfInput } from '../../contract/messages/messages';
import { runOptionsOf } from '../../contract/run-options';
import { unfitIn } from '../run/client-tools';
import { Addresses } from '../run/addresses';
import { CancelPlan, cancelled } from '../run/cancel-plan';
import { freshRecord } from '../agents/chat';
import { openConversation, rootConversation } from '../run/conversation';
import type { AgentEnd, AnyAgent } from '../define/definition';
import { agentInside, isChat, jobTaker, reachable } from '../define/definition';
import { isOwnTool, manifestRequest } from '../run/manifest-request';
import { runAgent } from '../agents/run-agent';
import { runTurns } from '../agents/turns';
import { answerForTool } from '../agents/agent-tool';
import { refuseLostTransfer } from '../agents/team';
import { isAlone } from '../agents/run-apart';
import { Frame } from '../effects/frames';
import { OpenInterrupts } from '../run/interrupts/interrupts';
import { textOfJob } from '../run/job';
import { Journal } from '../effects/journal';
import { MessageInbox } from '../run/message-inbox';
import { refuseUnknownNames } from '../define/named-tools';
import { LivelockGuard } from '../run/livelock-guard';
import { pendingCallsOf } from '../turn/pending-calls';
import type { Ports } from '../run/ports';
import { RunLocalBook } from '../run/run-local';
import { agentForRun, checkRunOptions, checkToolsOfOptions } from '../run/run-options';
import type { LeftAgent } from '../run/left-agents';
import type { RunScope } from '../run/scope';
import type { AgentRecord, RunState } from '../run/state';
import { mostRefusals, stopsTurn } from '../run/turn-stop';
import { isCancellation } from '../effects/errors';
import type { AgentResult } from '../run/agent-result';
import { resumeState } from './resume-point';
import { cannotRetry, retryState } from './retry-point';
import type { SplitState } from './split-state';
import { splitState } from './split-state';

export type RunEnd = AgentResult & Pick<AgentEnd, 'silent'>;

export class AgentRun {
  private readonly journal: Journal;
  private readonly openInterrupts: OpenInterrupts;
  private readonly addresses: Addresses;
  private readonly inbox: MessageInbox | undefined;
  private readonly checkpoints = new Map<string, AgentRecord>();
  private readonly leftAgents = new Map<string, LeftAgent>();
  private readonly onceCalls: Map<string, string>;
  readonly cancels: CancelPlan;
  private end: RunEnd | undefined;

  constructor(
    private readonly agents: ReadonlyMap<string, AnyAgent>,
    readonly state: RunState,
    private readonly ports: Ports,
  ) {
    this.addresses = new Addresses(state.addresses);
    this.onceCalls = new Map(Object.entries(state.onceCalls ?? {}));
    const isTurnStopped = (): boolean => this.inbox !== undefined && stopsTurn({ inbox: this.inbox, ports });
    this.journal = new Journal(state.journal, state.notes, {
      halts: (refusals) => this.cancels.isHeard || (refusals > mostRefusals && isTurnStopped()),
      // A question ends with its frame, even where code has not asked again.
      leftOver: (address, n, kind) => kind === 'interrupt' && this.openInterrupts.drop(interruptId(address.split('/'), n)),
      atRest: (act) => ports.atRest(act),
    });
    for (const address of state.remains ?? []) this.journal.remains.lose(address, 'it continued as new after a part of it had failed');
    this.openInterrupts = new OpenInterrupts(state, ports, isTurnStopped);
    this.cancels = new CancelPlan(state, ports, (error) => {
      this.openInterrupts.cancelAll(error);
      this.inbox?.cancel(error);
      ports.stop(error);
    });
    if (state.conversation !== undefined)
      this.inbox = new MessageInbox(state.conversation, ports, unfitIn(this.root, this.lacksAgent), () => this.openInterrupts.stopAsking());
  }

  async execute(): Promise<RunEnd> {
    const { state } = this;
    const root = this.root;
    if (root === undefined) throw new HoldfastError('agent-unknown', this.lacksAgent?.message ?? '');
    const isFresh = state.manifest === undefined;
    const inside = new Map(reachable(root).map((agent) => [agent.name, agent] as const));
    const known = new Map([...this.agents, ...inside]);
    // The parent run has checked the options of an isolated agent.
    const isFirst = isFresh && state.parent === undefined;
    if (isFirst) checkRunOptions(state.options, root.name, inside);
    const path = [root.name];
    const messages = this.beginning(root, path, isFresh);
    const manifest = await this.ports.prepare(manifestRequest(root, state));
    if (isFirst) {
      const isOwn = (tool: string): boolean => isOwnTool(root, tool);
      checkToolsOfOptions(state.options, manifest, isOwn);
      for (const agent of reachable(root).filter(isChat)) refuseUnknownNames(agent, manifest, isOwn);
    }
    state.manifest = manifest;
    // Another worker may have another default language.
    state.language ??= manifest.language;
    this.cancels.restore();
    if (state.finished !== undefined) return state.finished;
    const scope = this.scope(manifest, known, root);
    const place = {
      path,
      frame: new Frame(this.journal, path),
      ...(isAlone(root) ? {} : { branch: openConversation(scope, rootConversation, messages) }),
    };
    try {
      const end = await (scope.inbox === undefined ? runAgent(scope, root, place) : runTurns(scope, root, scope.inbox));
      this.end = end;
      // The canceller was told that the run ends as cancelled.
      if (this.cancels.isHeard && scope.stoppedBy === undefined) throw cancelled();
      // A transfer of an isolated agent counts in its parent run.
      if (state.parent === undefined) refuseLostTransfer(end, root);
      return end;
    } catch (error) {
      if (!isCancellation(error)) throw error;
      // After a stop, hooks get cancellations although the run was not cancelled.
      if (scope.stoppedBy !== undefined || this.cancels.isHeard) throw scope.stoppedBy ?? error;
      throw new HoldfastError('run-failed', `The code of an agent threw a cancellation, and nobody cancelled the run: ${messageOf(error)}`);
    } finally {
      scope.ended = true;
    }
  }

  private beginning(root: AnyAgent, path: readonly string[], isFresh: boolean): readonly StoredMessage[] {
    const { state } = this;
    if (!isChat(root) || !isAlone(root)) {
      const messages = isFresh ? this.firstMessages(root) : (state.agents[root.name]?.messages ?? []);
      if (!isChat(root) && pendingCallsOf(messages).length > 0)
        throw new HoldfastError(
          'input-invalid',
          `The input ends in tool calls that have no results. Agent "${root.name}" is made of others and has no tools to run them: start the agent that has.`,
        );
      return messages;
    }
    const agent = agentForRun(root, runOptionsOf(state.options, root.name));
    const record = state.agents[root.name] ?? freshRecord(agent, path, this.firstMessages(root), state);
    state.agents[root.name] = record;
    return record.messages;
  }

  get transcript(): readonly StoredMessage[] | undefined {
    const { root } = this;
    return root !== undefined && isChat(root) ? this.state.agents[root.name]?.messages : undefined;
  }

  /** An isolated agent need not be exported: an exported agent contains it. */
  private get root(): AnyAgent | undefined {
    const { agent, parent } = this.state;
    return parent === undefined ? this.agents.get(agent) : agentInside(this.agents.get(parent.from), agent, parent.nth);
  }

  private get lacksAgent(): Failure | undefined {
    if (this.root !== undefined) return undefined;
    const message = `There is no agent "${this.state.agent}". There are: ${[...this.agents.keys()].join(', ') || 'none'}.`;
    return { code: 'agent-unknown', message };
  }

  get interrupts(): readonly Interrupt[] {
    return this.state.interrupts.map(({ shown }) => shown);
  }

  get waitingFor(): number {
    return this.openInterrupts.size + (this.inbox?.isIdle === true ? 1 : 0);
  }

  get changed(): HoldfastError | undefined {
    return this.journal.changed;
  }

  get forgotten(): HoldfastError | undefined {
    return this.journal.forgotten() ?? this.openInterrupts.forgotten((message) => this.journal.change(message));
  }

  get openCode(): readonly string[] {
    return this.journal.openLabels;
  }

  refusalOf(answer: Answer): Failure | undefined {
    return this.openInterrupts.refusalOf(answer);
  }

  answer(answer: Answer, told?: (refused?: Failure) => void): number {
    return this.openInterrupts.answer(answer, told);
  }

  converse(command: ConversationCommand): ConversationReply {
    const { inbox, state } = this;
    if (inbox === undefined) return { refused: { code: 'not-a-conversation', message: `The run "${state.id}" takes no messages.` } };
    if (command.type === 'send' && command.agent !== undefined && command.agent !== state.agent)
      return { refused: { code: 'run-id-in-use', message: `"${state.id}" is a conversation with "${state.agent}".` } };
    return inbox.command(command);
  }

  get isIdle(): boolean {
    return this.inbox?.isIdle === true;
  }

  hold(): void {
    this.openInterrupts.hold();
    this.inbox?.hold();
  }

  goOn(): void {
    this.openInterrupts.goOn();
    this.inbox?.goOn();
  }

  cancel(error: unknown): void {
    this.cancels.stoppedFromOutside();
    this.openInterrupts.cancelAll(error);
    this.inbox?.cancel(error);
  }

  endQuestions(): void {
    this.openInterrupts.endAll();
  }

  /** Returns whether a cancel was requested. */
  stopWaiting(): boolean {
    return this.waitingFor > 0 && this.cancels.stopWaiting();
  }

  snapshot(): SplitState {
    const notes = this.journal.savedNotes;
    const { addresses: remains } = this.journal.remains;
    const { notes: _, remains: __, ...state } = this.state;
    const kept = defined({ notes, remains: remains.length === 0 ? undefined : remains });
    return this.split({ ...state, input: null, journal: this.journal.toJSON(), ...kept });
  }

  /** Throws 'retry-impossible'. */
  retryPoint(error: unknown): SplitState {
    if (this.end !== undefined) throw cannotRetry('all of its agents had ended');
    const { state, journal, leftAgents, onceCalls } = this;
    const { remains: _, ...retried } = retryState({ state, journal, leftAgents, onceCalls, error });
    // Without a manifest the run had not begun, and needs its input.
    return this.split(state.manifest === undefined ? retried : { ...retried, input: null });
  }

  /** Throws 'resume-impossible'. */
  resumePoint(): SplitState {
    const { journal, onceCalls, end } = this;
    const { addresses: remains } = journal.remains;
    const state = resumeState({ state: this.state, journal, onceCalls, end });
    const kept = remains.length === 0 ? state : { ...state, remains };
    return this.split(state.manifest === undefined ? kept : { ...kept, input: null });
  }

  private split(whole: RunState): SplitState {
    const { checkpoints, onceCalls, addresses } = this;
    return splitState(whole, { checkpoints, onceCalls, addresses });
  }

  private firstMessages(root: AnyAgent): readonly StoredMessage[] {
    const { input, parent } = this.state;
    // An isolated agent begins with the conversation, as without isolation.
    if (parent !== undefined || this.inbox !== undefined) return messagesOfInput(input) ?? [];
    const prompting = jobTaker(root);
    if (prompting !== undefined) {
      const text = textOfJob(prompting, input, root.name);
      return [{ id: this.ports.uuid(), role: 'user', parts: [{ type: 'text', text }] }];
    }
    const messages = messagesOfInput(input);
    if (messages === undefined)
      throw new HoldfastError(
        'input-invalid',
        `Agent "${root.name}" takes a text or a list of messages; it has no prompt and no inputSchema for a typed job.`,
      );
    return messages;
  }

  private scope(manifest: Manifest, agents: ReadonlyMap<string, AnyAgent>, root: AnyAgent): RunScope {
    return {
      state: this.state,
      ports: this.ports,
      journal: this.journal,
      interrupts: this.openInterrupts,
      cancels: this.cancels,
      runLocal: new RunLocalBook(this.state, this.ports),
      ...defined({ inbox: this.inbox }),
      agents,
      exported: this.agents.get(this.state.parent?.from ?? '') ?? root,
      manifest,
      checkpoints: this.checkpoints,
      leftAgents: this.leftAgents,
      parsed: new Map(),
      read: new Map(),
      onceCalls: this.onceCalls,
      pace: new LivelockGuard(() => this.ports.heard + this.openInterrupts.ended),
      ended: false,
      cancelCalls: () => {
        const error = new HoldfastError('cancelled', 'A stop of another call ends the run.');
        this.openInterrupts.cancelAll(error);
        this.ports.stop(error);
      },
      uniqueAddress: (address) => this.addresses.unique(address),
      answerForTool,
      nextAgentOfTools: () => (this.state.agentTools = (this.state.agentTools ?? 0) + 1),
    };
  }
}
