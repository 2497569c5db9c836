export { testRun } from './test-run';
export type { TestRun, TestRunOptions } from './test-run';
export type { LosableCall, LoseCall } from './memory-work';
export { scriptedModel } from './scripted-model';
export type {
  Script,
  ScriptedAnswer,
  ScriptedModel,
  ScriptedModelOptions,
  ScriptedRequest,
  ScriptedStep,
  ScriptedText,
  ScriptedToolCall,
} from './scripted-model';
export { recordHistory, replayHistories } from './histories';
export type { ReplayOptions, Replayed } from './replay-histories';
export type { RecordOptions } from './record-history';
