/** `holdfast/testing`: run agents in memory, record histories and replay them. */

export { testRun } from './test-run';
export type { TestRun, TestRunOptions } from './test-run';
export { testConversation } from './test-conversation';
export type { TestConversation, TestConversationOptions } from './test-conversation';
export type { LoseCall } from './memory-work';
export { scriptedModel } from './scripted-model';
export type { Script, ScriptedAnswer, ScriptedModel, ScriptedRequest, ScriptedStep, ScriptedToolCall } from './scripted-model';

export { recordHistory, replayHistories } from './histories';
export type { ReplayOptions, Replayed } from '../worker/replay/replay-histories';
export type { Difference } from '../worker/replay/differences';
