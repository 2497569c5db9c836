import { defined } from '../../contract/defined';
import { HoldfastError, messageOf } from '../../contract/errors';
import type { Answer, Interrupt } from '../../contract/interrupts';
import { latenessOf } from '../../contract/interrupts';
import type { Manifest } from '../../contract/manifest';
import type { Failure, Json, StoredMessage } from '../../contract/messages/messages';
import { messagesOfInput } from '../../contract/messages/messages';
import { runOptionsOf } from '../../contract/run-options';
import { listOfConversation } from '../../contract/record/snapshot-messages';
import type { AgentDefinition } from '../define/agent';
import { Addresses } from '../run/addresses';
import { freshRecord } from '../agents/chat';
import { openConversation, rootConversation } from '../run/conversation';
import type { AgentEnd, AnyAgent } from '../define/definition';
import { agentInside, isChat, promptingAgent, reachable } from '../define/definition';
import { isOwnTool, manifestRequest } from '../run/manifest-request';
import { runAgent } from '../agents/run-agent';
import { answerForTool } from '../agents/agent-tool';
import { refuseLostTransfer } from '../agents/team';
import { isAlone } from '../agents/run-apart';
import { Frame } from '../effects/frames';
import { OpenInterrupts } from '../run/interrupts';
import { Journal } from '../effects/journal';
import { refuseUnknownNames } from '../define/named-tools';
import { LivelockGuard } from '../run/livelock-guard';
import { pendingCallsOf } from '../turn/pending-calls';
import type { Ports } from '../run/ports';
import { RunLocalBook } from '../run/run-local';
import { agentForRun, checkRunOptions, checkToolsOfOptions } from '../run/run-options';
import type { LeftAgent } from '../run/left-agents';
import type { RunScope } from '../run/scope';
import type { AgentRecord, RunState } from '../run/state';
import { withoutMessages } from '../run/state';
import { blame, isCancellation } from '../effects/errors';
import type { AgentResult } from '../run/agent-result';
import { cannotRetry, retryState } from './retry-point';

/** A state, and the lists of messages that go apart from it. */
interface SplitState {
  readonly state: RunState;
  readonly lists: Readonly<Record<string, readonly StoredMessage[]>>;
}

/** How a run has ended that did not fail. */
export type RunEnd = AgentResult & Pick<AgentEnd, 'silent'>;

/** One agent run, from its start or from a snapshot. Knows its ports, and nothing of what is behind them. */
export class AgentRun {
  private readonly journal: Journal;
  private readonly openInterrupts: OpenInterrupts;
  private readonly addresses: Addresses;
  private readonly checkpoints = new Map<string, AgentRecord>();
  private readonly leftAgents = new Map<string, LeftAgent>();
  /** Its agents have ended, and nothing of them is kept. */
  private isOver = false;

  constructor(
    private readonly agents: ReadonlyMap<string, AnyAgent>,
    readonly state: RunState,
    private readonly ports: Ports,
  ) {
    this.addresses = new Addresses(state.addresses);
    this.journal = new Journal(state.journal, () => ports.cancelled, state.notes);
    for (const address of state.remains ?? []) this.journal.remains.lose(address, 'it continued as new after a part of it had failed');
    this.openInterrupts = new OpenInterrupts(state, ports);
  }

  async execute(): Promise<RunEnd> {
    const { state } = this;
    const root = this.root;
    if (root === undefined) {
      throw new HoldfastError(
        'agent-unknown',
        `There is no agent "${state.agent}". There are: ${[...this.agents.keys()].join(', ') || 'none'}.`,
      );
    }
    const isFresh = state.manifest === undefined;
    const inside = new Map(reachable(root).map((agent) => [agent.name, agent] as const));
    const known = new Map([...this.agents, ...inside]);
    // Those of an isolated agent were checked when the run began that it is part of.
    const isFirst = isFresh && state.parent === undefined;
    if (isFirst) checkRunOptions(state.options, root.name, inside);
    const path = [root.name];
    const messages = this.beginning(root, path, isFresh);
    const manifest = await this.ports.prepare(manifestRequest(root, state), messages);
    if (isFirst) {
      const isOwn = (tool: string): boolean => isOwnTool(root, tool);
      checkToolsOfOptions(state.options, manifest, isOwn);
      for (const agent of reachable(root).filter(isChat)) refuseUnknownNames(agent, manifest, isOwn);
    }
    state.manifest = manifest;
    // Another worker may speak another one by default.
    state.language ??= manifest.language;
    const scope = this.scope(manifest, known, root);
    const place = {
      path,
      frame: new Frame(this.journal, path),
      ...(isAlone(root) ? {} : { branch: openConversation(scope, rootConversation, messages) }),
    };
    try {
      const end = await runAgent(scope, root, place);
      this.isOver = true;
      // An answer that comes in the very moment in which the run is cancelled: whoever cancelled it was told that it ends so.
      if (this.ports.cancelled && scope.stoppedBy === undefined) throw new HoldfastError('cancelled', 'The run was cancelled.');
      // An isolated agent ends in the run that it is part of, where what it does means as much as without isolation.
      if (state.parent === undefined) refuseLostTransfer(end, root);
      return end;
    } catch (error) {
      if (!isCancellation(error)) throw error;
      // Hooks behind a stop can call nothing any more. That is no cancellation of the run.
      if (scope.stoppedBy !== undefined || this.ports.cancelled) throw scope.stoppedBy ?? error;
      throw new HoldfastError('run-failed', `The code of an agent threw a cancellation, and nobody cancelled the run: ${messageOf(error)}`);
    } finally {
      scope.ended = true;
    }
  }

  /** The messages that the run begins with, or those that its first agent has by now. */
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

  /** What the agent that the run was started with has said and heard, when it is one that talks to a model. */
  get transcript(): readonly StoredMessage[] | undefined {
    const { root } = this;
    return root !== undefined && isChat(root) ? this.state.agents[root.name]?.messages : undefined;
  }

  /** An isolated agent need not be exported: it is found in one that is. */
  private get root(): AnyAgent | undefined {
    const { agent, parent } = this.state;
    return parent === undefined ? this.agents.get(agent) : agentInside(this.agents.get(parent.from), agent, parent.nth);
  }

  get interrupts(): readonly Interrupt[] {
    return this.state.interrupts.map(({ shown }) => shown);
  }

  /** How many answers are waited for right now. */
  get waitingFor(): number {
    return this.openInterrupts.size;
  }

  /** Where the code asked for something else than before the continue-as-new. */
  get changed(): HoldfastError | undefined {
    return this.journal.changed;
  }

  /** What was open at the continue-as-new and is not entered again. */
  get forgotten(): HoldfastError | undefined {
    return this.journal.forgotten() ?? this.openInterrupts.forgotten((message) => this.journal.change(message));
  }

  /** User code that is open, innermost last. */
  get openCode(): readonly string[] {
    return this.journal.openLabels;
  }

  /** Why an answer would be refused that the server took at this time. Default: now. */
  refusalOf(answer: Answer, at?: number): Failure | undefined {
    return this.openInterrupts.refusalOf(answer, at);
  }

  /** Whether the deadline of an interrupt has passed that is still open. */
  isLate(interruptId: string): boolean {
    return this.interrupts.some((shown) => shown.id === interruptId && latenessOf(shown, this.ports.now()) !== undefined);
  }

  /** Takes an answer, and tells when it counts or why it does not. */
  answer(answer: Answer, at?: number, told?: (refused?: Failure) => void): number {
    return this.openInterrupts.answer(answer, at, told);
  }

  /** Answers are taken, and wake no code. */
  hold(): void {
    this.openInterrupts.hold();
  }

  goOn(): void {
    this.openInterrupts.goOn();
  }

  cancel(error: unknown): void {
    this.openInterrupts.cancelAll(error);
  }

  /** The state as of the last iteration checkpoints, and the journal of what has settled since. */
  snapshot(): SplitState {
    const notes = this.journal.savedNotes;
    const { addresses: remains } = this.journal.remains;
    const { notes: _, remains: __, ...state } = this.state;
    const kept = defined({ notes, remains: remains.length === 0 ? undefined : remains });
    return this.split({ ...state, input: null, journal: this.journal.toJSON(), ...kept });
  }

  /** The same of a run that has failed, for another try of what failed. Throws 'retry-impossible' where there can be none. */
  retryPoint(error: unknown): SplitState {
    if (this.isOver) throw cannotRetry('all of its agents had ended');
    const { state, journal, leftAgents } = this;
    const { remains: _, ...retried } = retryState({ state, journal, leftAgents, error });
    // What had not begun begins anew.
    return this.split(state.manifest === undefined ? retried : { ...retried, input: null });
  }

  private split(whole: RunState): SplitState {
    const agents: Record<string, AgentRecord> = {};
    const lists: Record<string, readonly StoredMessage[]> = {};
    for (const [key, record] of Object.entries(whole.agents)) {
      const checkpoint = this.checkpoints.get(key) ?? record;
      lists[key] = checkpoint.messages;
      agents[key] = { ...checkpoint, messages: [] };
    }
    const { addresses: _, ...state } = whole;
    const { said } = state;
    const addresses = this.addresses.over(agents);
    for (const [conversation, entries] of Object.entries(said ?? {}))
      lists[listOfConversation(conversation)] = entries.map(({ message }) => message);
    return {
      state: {
        ...state,
        agents,
        ...defined({ addresses }),
        ...(said === undefined ? {} : { said: withoutMessages(said) }),
      },
      lists,
    };
  }

  private firstMessages(root: AnyAgent): readonly StoredMessage[] {
    const { input, parent } = this.state;
    // An isolated agent begins with what was said, as it does inside of another run.
    if (parent !== undefined) return messagesOfInput(input) ?? [];
    const prompting = promptingAgent(root);
    if (prompting?.prompt !== undefined) return [promptMessage(prompting, input, this.ports)];
    const messages = messagesOfInput(input);
    if (messages === undefined)
      throw new HoldfastError(
        'input-invalid',
        `Agent "${root.name}" takes a text or a list of messages; it has no prompt for a typed job.`,
      );
    return messages;
  }

  private scope(manifest: Manifest, agents: ReadonlyMap<string, AnyAgent>, root: AnyAgent): RunScope {
    return {
      state: this.state,
      ports: this.ports,
      journal: this.journal,
      interrupts: this.openInterrupts,
      runLocal: new RunLocalBook(this.state, this.ports),
      agents,
      exported: this.agents.get(this.state.parent?.from ?? '') ?? root,
      manifest,
      checkpoints: this.checkpoints,
      leftAgents: this.leftAgents,
      parsed: new Map(),
      pace: new LivelockGuard(() => this.ports.heard + this.openInterrupts.ended),
      ended: false,
      cancelCalls: () => {
        const error = new HoldfastError('cancelled', 'A stop of another call ends the run.');
        this.openInterrupts.cancelAll(error);
        this.ports.stop(error);
      },
      uniqueAddress: (address) => this.addresses.unique(address),
      answerForTool,
    };
  }
}

function promptMessage(agent: AgentDefinition, input: Json, ports: Ports): StoredMessage {
  let text: unknown;
  try {
    text = agent.prompt?.(input);
  } catch (error) {
    throw blame(error, `prompt of agent "${agent.name}"`);
  }
  if (typeof text !== 'string') throw new HoldfastError('hook-failed', `prompt of agent "${agent.name}" returned no text.`);
  return { id: ports.uuid(), role: 'user', parts: [{ type: 'text', text }] };
}
