import type { DeltaSink } from '../contract/deltas';
import type { HoldfastError } from '../contract/errors';
import type { Language, ModelFacts, ToolFacts } from '../contract/manifest';
import type { AnswersElsewhere, ElsewhereAnswer } from '../contract/record/answers-elsewhere';
import type { AgentRunInput, KeptPoint, TrialVerdict } from '../contract/record/wire';
import type { LoopWatch } from './health/loop-watch';
import type { Turns } from './limits/turns';
import type { MessageStore } from './transcripts/message-store';
import type { ModelRegistry } from './models/models';
import type { Observers } from './worker-middleware/observers';
import type { OutputRegistry } from './schemas/outputs';
import type { Policies } from './policies';
import type { ToolRegistry } from './tools/tools';
import type { WorkerMiddlewareRegistry } from './worker-middleware/worker-middleware';

/** Reads in the histories of other runs. Given by the worker, which has the connection. */
export interface AnswerLookup {
  /** For each of the interrupts the first answer that fits and was given before its deadline. null: there is none. */
  to(asked: AnswersElsewhere): Promise<readonly (ElsewhereAnswer | null)[]>;
  /** What the latest execution of a run kept that was cancelled. Undefined: it was not, or kept nothing. */
  pointOf(workflowId: string): Promise<KeptPoint | undefined>;
}

/** What the activities of one worker share. */
export interface WorkerParts {
  readonly tools: ToolRegistry;
  readonly models: ModelRegistry;
  readonly middleware: WorkerMiddlewareRegistry;
  readonly outputs: OutputRegistry;
  /** Policies of the configuration, by name. Absent: there are none. */
  readonly policies?: Policies;
  /** Who looks on at calls. */
  readonly observers?: Observers;
  /** Told of what code of users does wrong where no run fails of it. */
  readonly onProblem?: (problem: HoldfastError) => void;
  readonly messages: MessageStore;
  /** Where tokens go while a call runs. */
  readonly deltas: DeltaSink;
  /** How long a model's stream may be silent before it counts as lost. */
  readonly stallMs?: number;
  /** Asks the newest build of the task queue whether it can go on with a run. */
  readonly tryNewestBuild?: (input: AgentRunInput) => Promise<TrialVerdict>;
  readonly answers?: AnswerLookup;
  /** Turns of models and tools that are limited. Absent: as in memory, where nothing is. */
  readonly turns?: Turns;
  /** Names tools that block the event loop. Absent: in a program of the user's own. */
  readonly loop?: LoopWatch;
  readonly language: Language;
  readonly toolDefaults: ToolFacts;
  readonly modelFacts: ModelFacts;
}

export const defaultModelFacts: ModelFacts = { timeoutMs: 600_000, heartbeatMs: 10_000, attempts: 5, patienceMs: 3_600_000 };
