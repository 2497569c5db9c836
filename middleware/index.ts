/** `holdfast/middleware`: the built-in middleware, as an agents module uses it. Worker tools and stores of theirs are in `holdfast/worker`. */

// Humans and limits
export { approval } from './approval/workflow';
export { askHuman } from './ask-human/workflow';
export type { AskHumanOptions } from './ask-human/workflow';
export type { FormField } from '../contract/form-fields';
export { budget } from './budget/workflow';
export type { BudgetOptions, Price } from './budget/workflow';
export { modelCallLimit } from './model-call-limit/workflow';
export type { ModelCallLimitOptions } from './model-call-limit/workflow';
export { toolCallLimit } from './tool-call-limit/workflow';
export type { ToolCallLimitOptions } from './tool-call-limit/workflow';
export type { ApprovalOptions, ApprovalRule } from './approval/workflow';
export { approvalsBy } from './approval/approvals-by';
export { policy } from './approval/policy';
export type { PolicyOptions, PolicyStage } from './approval/policy-options';

// Models: retry, fallback, cache
export { modelFallback } from './model-fallback/workflow';
export type { ModelFallbackOptions } from './model-fallback/workflow';
export { modelRetry } from './model-retry/workflow';
export type { ModelRetryOptions } from './model-retry/workflow';
export { responseCache } from './response-cache/workflow';
export type { ResponseCacheOptions } from './response-cache/workflow';

// What the model sees
export { pii } from './pii/workflow';
export type { CustomPattern, PiiOptions, Strategy } from './pii/workflow';
export { contextEditing } from './context-editing/workflow';
export type { ContextEditingOptions } from './context-editing/workflow';
export { dynamicPrompt } from './dynamic-prompt/workflow';
export type { DynamicPromptOptions } from './dynamic-prompt/workflow';
export { patchToolCalls } from './patch-tool-calls/workflow';
export type { PatchToolCallsOptions } from './patch-tool-calls/workflow';
export { reduction } from './reduction/workflow';
export type { ClearedRound, ReductionOptions } from './reduction/options';
export { summarization, summarize } from './summarization/workflow';
export { chainFinalizers } from './summarization/finalizers';
export type { SummaryFinalizer } from './summarization/finalizers';
export { preserveSkills } from './summarization/skills';
export type { SummarizationOptions, SummaryFailoverAttempt } from './summarization/options';
export { contextTokens, estimateTokens } from './token-count';
export type { TokenCounter } from './token-count';

// Tools: which, how often, and tools of their own
export { toolRetry } from './tool-retry/workflow';
export type { ToolRetryOptions } from './tool-retry/workflow';
export { toolSelector } from './tool-selector/workflow';
export type { ToolSelectorOptions } from './tool-selector/workflow';
export { agentsMd } from './agents-md/workflow';
export type { AgentsMdOptions } from './agents-md/workflow';
export { filesystem } from './filesystem/workflow';
export type { FilesystemOptions } from './filesystem/workflow';
export { planTask, tasksOf } from './plan-task/workflow';
export type { PlanTaskOptions } from './plan-task/workflow';
export type { Task } from './plan-task/task-board';
export { skill } from './skill/workflow';
export type { SkillOptions } from './skill/workflow';
export type { ForkedSkill, SkillAgents } from './skill/forked-skill';
export type { Skill } from './skill/skills';
export { todo, todosOf } from './todo/workflow';
export type { Todo, TodoOptions } from './todo/workflow';
export { toolSearch } from './tool-search/workflow';
export type { ToolSearchOptions } from './tool-search/workflow';
