import type { Manifest } from '../../contract/manifest';
import type { StoredMessage } from '../../contract/messages/messages';
import type { AgentRunOptions } from '../../contract/run-options';
import type { AgentDefinition } from '../define/agent';
import type { CancelPlan } from './cancel-plan';
import type { ContextLifetime } from './context-lifetime';
import type { Branch } from './conversation';
import type { AnyAgent } from '../define/definition';
import type { ToolInside } from '../define/workflow-tools';
import type { Frame } from '../effects/frames';
import type { Journal } from '../effects/journal';
import type { OpenInterrupts } from './interrupts';
import type { LeftAgent } from './left-agents';
import type { MessageInbox } from './message-inbox';
import type { ParsedArguments, ReadAnswer } from './parsed-arguments';
import type { LivelockGuard } from './livelock-guard';
import type { Ports } from './ports';
import type { RunLocalBook } from './run-local';
import type { AgentRecord, RunState } from './state';

/** What belongs to the whole run. */
export interface RunScope {
  readonly state: RunState;
  readonly ports: Ports;
  readonly journal: Journal;
  readonly interrupts: OpenInterrupts;
  readonly cancels: CancelPlan;
  readonly runLocal: RunLocalBook;
  /** What people say to it. Absent: it is no conversation. */
  readonly inbox?: MessageInbox;
  readonly agents: ReadonlyMap<string, AnyAgent>;
  /** The exported agent in which all of them stand. */
  readonly exported: AnyAgent;
  readonly manifest: Manifest;
  /** What each agent in the middle of an iteration was when the iteration began, by its path. */
  readonly checkpoints: Map<string, AgentRecord>;
  /** Agents that errors ended, by the keys of their frames, for another try. One counts as long as the journal has the remains of its frame. */
  readonly leftAgents: Map<string, LeftAgent>;
  /** What parsing made of the tool calls of the last answer, by the path of the agent. */
  readonly parsed: Map<string, ParsedArguments>;
  /** What the output of an agent made of the last answer, by the path of the agent. */
  readonly read: Map<string, ReadAnswer>;
  /** The frames in which hooks have called tools whose effect is once. */
  readonly onceCalls: Map<string, string>;
  /** Counts agents that end without having waited for anything. */
  readonly pace: LivelockGuard;
  /** Whether the run has ended: what is left of it may do nothing any more. */
  ended: boolean;
  /** The stop that took the calls beside it with it: it is what the run ends with. */
  stoppedBy?: unknown;
  /** Cancels what is on its way and what is waited for. Nothing new begins after that. */
  cancelCalls(): void;
  /** The address itself the first time, with an ordinal after that. */
  uniqueAddress(address: string): string;
  /** Runs an agent that answers a call of a tool. It comes from above: the rooms below know no agents. */
  answerForTool(asked: AgentForTool): Promise<string>;
}

export interface AgentForTool {
  /** The agent whose tool it is. */
  readonly scope: AgentScope;
  readonly frame: Frame;
  readonly agent: AnyAgent;
  /** What it begins with. Asked once. */
  readonly messages: () => readonly StoredMessage[];
  readonly forwardEvents?: boolean;
}

/** What belongs to one agent at work in it. */
export interface AgentScope {
  readonly run: RunScope;
  /** With the tools and aliases of this run. */
  readonly agent: AgentDefinition;
  /** What the run has otherwise for this agent. */
  readonly options: AgentRunOptions;
  readonly path: readonly string[];
  readonly record: AgentRecord;
  readonly life: ContextLifetime;
  /** The conversation that others hear it in. Absent: it is alone. */
  readonly branch?: Branch;
  /** An agent that runs others, and is looked at as one: no model talks for it. */
  readonly isGroup?: true;
}

/** What a workflow tool of the kernel itself sees of its call: the agent that made it, too. */
export interface ToolInAgent extends ToolInside {
  readonly scope: AgentScope;
}
