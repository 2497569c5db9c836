import type { DeltaSink } from '../contract/deltas';
import type { HoldfastError } from '../contract/errors';
import type { Language, ModelFacts, ToolFacts } from '../contract/manifest';
import type { AnswersElsewhere, ElsewhereAnswer } from '../contract/record/answers-elsewhere';
import type { AgentRunInput, CallToolInput, KeptPoint, TrialVerdict } from '../contract/record/wire';
import type { LoopWatch } from './health/loop-watch';
import type { Turns } from './limits/turns';
import type { McpServers } from './mcp/servers';
import type { MessageStore } from './transcripts/message-store';
import type { ModelRegistry } from './models/models';
import type { Observers } from './worker-middleware/observers';
import type { OutputRegistry } from './schemas/outputs';
import type { Policies } from './policies';
import type { ToolRegistry } from './tools/tools';
import type { WorkerMiddlewareRegistry } from './worker-middleware/worker-middleware';

export interface AnswerLookup {
  /** Returns for every interrupt the first valid answer before the deadline, or null. */
  to(asked: AnswersElsewhere): Promise<readonly (ElsewhereAnswer | null)[]>;
  /** Returns the point that a cancelled run's latest execution kept. */
  pointOf(workflowId: string): Promise<KeptPoint | undefined>;
}

export interface WorkerParts {
  readonly tools: ToolRegistry;
  readonly mcp?: McpServers;
  readonly models: ModelRegistry;
  readonly middleware: WorkerMiddlewareRegistry;
  readonly outputs: OutputRegistry;
  readonly policies?: Policies;
  readonly observers?: Observers;
  /** Called for mistakes of user code that fail no run. */
  readonly onProblem?: (problem: HoldfastError) => void;
  readonly messages: MessageStore;
  readonly deltas: DeltaSink;
  readonly stallMs?: number;
  /** Asks the task queue's newest build whether the build can continue a run. */
  readonly tryNewestBuild?: (input: AgentRunInput) => Promise<TrialVerdict>;
  readonly answers?: AnswerLookup;
  /** Absent in memory, without limits. */
  readonly turns?: Turns;
  /** Absent in a user's own worker. */
  readonly loop?: LoopWatch;
  readonly language: Language;
  readonly toolDefaults: ToolFacts;
  readonly modelFacts: ModelFacts;
}

export const defaultModelFacts: ModelFacts = { timeoutMs: 600_000, heartbeatMs: 10_000, attempts: 5, patienceMs: 3_600_000 };

/** The parts for a call of an MCP server's tool have the tool as it was when the run was prepared. */
export function partsForCall<Parts extends Pick<WorkerParts, 'tools' | 'mcp' | 'toolDefaults'>>(parts: Parts, input: CallToolInput): Parts {
  const { mcp } = input;
  if (mcp === undefined) return parts;
  const found = parts.mcp?.toolOf({ ...input, mcp }, parts.toolDefaults);
  return found === undefined ? parts : { ...parts, tools: found };
}
