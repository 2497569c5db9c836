import type { Manifest } from '../../contract/manifest';
import type { StoredMessage } from '../../contract/messages/messages';
import type { AgentRunOptions } from '../../contract/run-options';
import type { CancelPlan } from './cancel-plan';
import type { ContextLifetime } from './context-lifetime';
import type { AnyAgent, ToolInside, AgentDefinition } from '../define/definition';
import type { Frame } from '../effects/frames';
import type { Journal } from '../effects/journal';
import type { OpenInterrupts } from './interrupts/interrupts';
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
  readonly inbox?: MessageInbox;
  readonly agents: ReadonlyMap<string, AnyAgent>;
  /** The exported agent that contains all agents of the run. */
  readonly exported: AnyAgent;
  readonly manifest: Manifest;
  /** The records at the beginning of the present iteration, by path. */
  readonly checkpoints: Map<string, AgentRecord>;
  /** By the keys of their frames, for a retry. An entry counts while the journal has remains of its frame. */
  readonly leftAgents: Map<string, LeftAgent>;
  readonly parsed: Map<string, ParsedArguments>;
  /** The last answer as its output schema read it, by path. */
  readonly read: Map<string, ReadAnswer>;
  readonly onceCalls: Map<string, string>;
  readonly pace: LivelockGuard;
  ended: boolean;
  stoppedBy?: unknown;
  cancelCalls(): void;
  uniqueAddress(address: string): string;
  /** Passed in, because lower folders do not import agents. */
  answerForTool(asked: AgentForTool): Promise<string>;
  nextAgentOfTools(): number;
}

export interface AgentForTool {
  readonly scope: AgentScope;
  readonly frame: Frame;
  readonly agent: AnyAgent;
  readonly nth: number;
  readonly messages: () => readonly StoredMessage[];
  readonly forwardEvents?: boolean;
}

export interface Branch {
  readonly conversation: string;
  readonly path: string;
}

export interface AgentScope {
  readonly run: RunScope;
  readonly agent: AgentDefinition;
  readonly options: AgentRunOptions;
  readonly path: readonly string[];
  readonly record: AgentRecord;
  readonly life: ContextLifetime;
  /** The conversation that sees the agent's messages. Absent: the agent is alone. */
  readonly branch?: Branch;
  readonly isGroup?: true;
}

export interface ToolInAgent extends ToolInside {
  readonly scope: AgentScope;
}
