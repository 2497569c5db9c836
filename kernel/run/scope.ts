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

export interface RunScope {
  readonly state: RunState;
  readonly ports: Ports;
  readonly journal: Journal;
  readonly interrupts: OpenInterrupts;
  readonly cancels: CancelPlan;
  readonly runLocal: RunLocalBook;
  /** Absent: the run is not a conversation. */
  readonly inbox?: MessageInbox;
  readonly agents: ReadonlyMap<string, AnyAgent>;
  /** The exported agent that contains all of them. */
  readonly exported: AnyAgent;
  readonly manifest: Manifest;
  /** The records of agents at the beginning of their present iteration, by path. */
  readonly checkpoints: Map<string, AgentRecord>;
  /** Agents that errors ended, by the keys of their frames, for a retry. An entry counts as long as the journal has remains of its frame. */
  readonly leftAgents: Map<string, LeftAgent>;
  /** Parsed tool calls of the last answer, by path. */
  readonly parsed: Map<string, ParsedArguments>;
  /** The last answer as its output read it, by path. */
  readonly read: Map<string, ReadAnswer>;
  /** The frames in which hooks called `once` tools. */
  readonly onceCalls: Map<string, string>;
  /** Counts agents that ended without a wait. */
  readonly pace: LivelockGuard;
  /** The run has ended, and its remaining code may do nothing. */
  ended: boolean;
  /** The stop that ended parallel calls, and ends the run. */
  stoppedBy?: unknown;
  /** Cancels everything under way and waiting. Nothing new begins. */
  cancelCalls(): void;
  uniqueAddress(address: string): string;
  /** Runs an agent that answers a tool call. Passed in from above, because lower rooms know no agents. */
  answerForTool(asked: AgentForTool): Promise<string>;
}

export interface AgentForTool {
  readonly scope: AgentScope;
  readonly frame: Frame;
  readonly agent: AnyAgent;
  /** What it begins with. Asked once. */
  readonly messages: () => readonly StoredMessage[];
  readonly forwardEvents?: boolean;
}

export interface AgentScope {
  readonly run: RunScope;
  /** With the tools and aliases of this run. */
  readonly agent: AgentDefinition;
  /** Other options of the run for this agent. */
  readonly options: AgentRunOptions;
  readonly path: readonly string[];
  readonly record: AgentRecord;
  readonly life: ContextLifetime;
  /** The conversation that hears the agent. Absent: the agent is alone. */
  readonly branch?: Branch;
  /** An agent that runs others, seen as a whole: no model talks for it. */
  readonly isGroup?: true;
}

/** The call of a workflow tool of the kernel, with the calling agent. */
export interface ToolInAgent extends ToolInside {
  readonly scope: AgentScope;
}
