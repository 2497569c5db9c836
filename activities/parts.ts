import type { Language, ModelFacts, ToolFacts } from '../contract/plain/manifest';
import type { MessageStore } from './message-store';
import type { ModelRegistry } from './models';
import type { ToolRegistry } from './tools';
import type { HalfRegistry } from './worker-middleware';

/** What the activities of one worker share. */
export interface WorkerParts {
  readonly tools: ToolRegistry;
  readonly models: ModelRegistry;
  readonly halves: HalfRegistry;
  readonly messages: MessageStore;
  readonly language: Language;
  readonly toolDefaults: ToolFacts;
  readonly modelFacts: ModelFacts;
}

export const defaultModelFacts: ModelFacts = { timeoutMs: 600_000, heartbeatMs: 10_000, attempts: 5 };
