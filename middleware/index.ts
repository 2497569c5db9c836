/** `holdfast/middleware`: the built-in middleware for an agents module. Worker tools and stores are in `holdfast/worker`. */

export { approval } from './approval/workflow';
export { askHuman } from './ask-human/workflow';
export type { AskHumanOptions, HumanQuestion } from './ask-human/workflow';
export type { FormChoice, FormField } from '../contract/form-fields';
export { budget } from './budget/workflow';
export type { Amount, AskForMore, BudgetOptions, CheaperModel, Price } from './budget/workflow';
export { modelCallLimit } from './model-call-limit/workflow';
export type { ModelCallLimitOptions } from './model-call-limit/workflow';
export { toolCallLimit } from './tool-call-limit/workflow';
export type { ToolCallLimitOptions } from './tool-call-limit/workflow';
export type { ApprovalOptions, ApprovalRule } from './approval/workflow';
export { approvalsBy } from './approval/approvals-by';
export type { ApprovalsByOptions } from './approval/approvals-by';
export { policy } from './approval/policy';
export type { PolicyCall, PolicyOptions, PolicyStage } from './approval/policy-options';
export type { Deciders, PolicyRun } from '../contract/policies';

export type { Backoff } from './backoff';
export { modelFallback } from './model-fallback/workflow';
export type { ModelFallbackOptions } from './model-fallback/workflow';
export { modelRetry } from './model-retry/workflow';
export type { ModelRetryOptions } from './model-retry/workflow';
export { responseCache } from './response-cache/workflow';
export type { ResponseCacheOptions } from './response-cache/workflow';

export { pii } from './pii/workflow';
export type { CustomPattern, PiiOptions, PiiPlace, Strategy } from './pii/workflow';
export { contextEditing } from './context-editing/workflow';
export type { ContextEditingOptions } from './context-editing/workflow';
export { dynamicPrompt } from './dynamic-prompt/workflow';
export type { DynamicPromptOptions, PromptMaker } from './dynamic-prompt/workflow';
export { patchToolCalls } from './patch-tool-calls/workflow';
export type { PatchToolCallsOptions } from './patch-tool-calls/workflow';
export { reduction } from './reduction/workflow';
export type { ClearedCall, ClearedResult, ClearedRound, ReductionOptions, ToolReduction } from './reduction/options';
export { summarization, summarize } from './summarization/workflow';
export { chainFinalizers } from './summarization/finalizers';
export type { SummaryDraft, SummaryFinalizer } from './summarization/finalizers';
export { preserveSkills } from './summarization/skills';
export type { PreserveSkillsOptions } from './summarization/skills';
export type {
  SummarizationOptions,
  SummaryAttempt,
  SummaryFailoverAttempt,
  SummaryFailoverOptions,
  SummaryRequest,
  SummaryRetryOptions,
} from './summarization/options';
export { contextTokens, estimateTokens } from './token-count';
export type { TokenCounter } from './token-count';

export { toolRetry } from './tool-retry/workflow';
export type { ToolProblem, ToolRetryOptions } from './tool-retry/workflow';
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
export type { Skill, SkillHead } from './skill/skills';
export { todo, todosOf } from './todo/workflow';
export type { Todo, TodoOptions } from './todo/workflow';
export { toolSearch } from './tool-search/workflow';
export type { ToolSearchOptions } from './tool-search/workflow';
