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
export { replayHistories } from './replay-histories';
export type { ReplayOptions, Replayed } from './replay-histories';
export { recordHistory } from './record-history';
export type { RecordOptions } from './record-history';
