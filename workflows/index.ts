export { agentsFor, defineAgent, isAgent } from '../kernel/define/agent';
export type { Agent, AgentFactory, AgentOptions, ToolArgumentsHandler, UnknownToolHandler } from '../kernel/define/agent';
export { breakLoopAction, exitAction, transferToAgentAction } from '../kernel/define/actions';
export type { FlowAction } from '../kernel/define/actions';
export { deepAgent } from '../middleware/deep/workflow';
export type { DeepAgentOptions } from '../middleware/deep/workflow';
export { planExecute } from '../middleware/plan-execute/workflow';
export type { ExecutedStep, PlanExecuteOptions, PlanState, PlanningOptions } from '../middleware/plan-execute/workflow';
export { agentTool } from '../kernel/agents/agent-tool';
export type { AgentToolOptions } from '../kernel/agents/agent-tool';
export { customAgent, loop, parallel, sequential, setSubAgents, supervisor, withDeterministicTransfer } from '../kernel/define/define';
export type { AgentPart, CustomAgentOptions, GroupOptions, LoopOptions, ParallelOptions, SupervisorOptions } from '../kernel/define/define';
export type {
  AgentObserver,
  CustomContext,
  CustomEvent,
  CustomInput,
  HistoryEntry,
  HistoryRewriter,
  RanAgent,
} from '../kernel/define/definition';
export type { ClassicMiddleware, MiddlewareEntry, ToolCallMiddleware, ToolCallWrap } from '../kernel/define/classic-middleware';
export type { IterationLimit } from '../kernel/define/limit-options';
export { eventSenderModelWrapper, eventSenderToolWrapper } from '../middleware/forms/event-senders';
export {
  withAfterModelRewriteHistory,
  withBeforeModelRewriteHistory,
  withInstruction,
  withInstructionFunc,
  withInvokableToolCallWrapper,
  withStreamableToolCallWrapper,
  withToolCallWrapper,
  withTools,
  withToolsFunc,
} from '../middleware/forms/handlers';
export { onWorker } from '../kernel/define/middleware';
export type {
  AgentEvent,
  AgentMiddleware,
  AgentState,
  HookContext,
  InputOf,
  InterruptOptions,
  LastAnswer,
  ModelRequest,
  ModelResponse,
  OutputOf,
  RunSetup,
  Tools,
  Update,
  WorkflowTool,
} from '../kernel/define/middleware';
export { agenticMiddleware, chatMiddleware } from '../middleware/forms/shaped-middleware';
export type {
  FailoverAttempt,
  FailoverChoice,
  FailoverOptions,
  ModelError,
  RetryAttempt,
  RetryDecision,
  RetryOptions,
} from '../kernel/define/retry-options';
export { callbacks } from '../middleware/callbacks/callbacks';
export type { CallbacksOptions } from '../middleware/callbacks/callbacks';
export { detachedInvocation, getStateValue, toolStateKey } from '../middleware/callbacks/invocation';
export { plugin } from '../middleware/callbacks/plugins';
export type { AfterToolMessagesArgs, Plugin } from '../middleware/callbacks/plugins';
export { agentCallbacks, modelCallbacks, toolCallbacks } from '../middleware/callbacks/sets';
export type { AgentCallbacks, ModelCallbacks, ToolCallbacks } from '../middleware/callbacks/sets';
export { StopError } from '../kernel/effects/errors';
export type {
  AfterAgentArgs,
  AfterAgentResult,
  AfterModelArgs,
  AfterModelResult,
  AfterToolArgs,
  AfterToolResult,
  BeforeAgentArgs,
  BeforeAgentResult,
  BeforeModelArgs,
  BeforeModelResult,
  BeforeToolArgs,
  BeforeToolResult,
  Callback,
  CallbackOptions,
  ChainOutcome,
  Invocation,
  InvocationState,
  ModelRequestDraft,
  ModelResponseDraft,
  CallbackResultView,
  ToolResultMessages,
  ToolResultMessagesArgs,
} from '../middleware/callbacks/types';
export { approval } from '../middleware/approval/workflow';
export type { Backoff } from '../middleware/backoff';
export { budget } from '../middleware/budget/workflow';
export type { Amount, AskForMore, BudgetOptions, CheaperModel, Price } from '../middleware/budget/workflow';
export { modelCallLimit } from '../middleware/model-call-limit/workflow';
export type { ModelCallLimitOptions } from '../middleware/model-call-limit/workflow';
export { modelFallback } from '../middleware/model-fallback/workflow';
export type { ModelFallbackOptions } from '../middleware/model-fallback/workflow';
export { modelRetry } from '../middleware/model-retry/workflow';
export type { ModelRetryOptions } from '../middleware/model-retry/workflow';
export { pii } from '../middleware/pii/workflow';
export type { CustomPattern, PiiOptions, Place, Strategy } from '../middleware/pii/workflow';
export { responseCache } from '../middleware/response-cache/workflow';
export type { ResponseCacheOptions } from '../middleware/response-cache/workflow';
export { toolCallLimit } from '../middleware/tool-call-limit/workflow';
export type { ToolCallLimitOptions } from '../middleware/tool-call-limit/workflow';
export { toolRetry } from '../middleware/tool-retry/workflow';
export type { ToolProblem, ToolRetryOptions } from '../middleware/tool-retry/workflow';
export { toolSelector } from '../middleware/tool-selector/workflow';
export type { ToolSelectorOptions } from '../middleware/tool-selector/workflow';
export { contextEditing } from '../middleware/context-editing/workflow';
export type { ContextEditingOptions } from '../middleware/context-editing/workflow';
export { dynamicPrompt } from '../middleware/dynamic-prompt/workflow';
export type { DynamicPromptOptions, PromptMaker } from '../middleware/dynamic-prompt/workflow';
export { patchToolCalls } from '../middleware/patch-tool-calls/workflow';
export type { PatchToolCallsOptions } from '../middleware/patch-tool-calls/workflow';
export { reduction } from '../middleware/reduction/workflow';
export type { ClearedCall, ClearedResult, ClearedRound, ReductionOptions, ToolReduction } from '../middleware/reduction/options';
export { summarization, summarize } from '../middleware/summarization/workflow';
export { chainFinalizers } from '../middleware/summarization/finalizers';
export type { SummaryDraft, SummaryFinalizer } from '../middleware/summarization/finalizers';
export { preserveSkills } from '../middleware/summarization/skills';
export type { PreserveSkillsOptions } from '../middleware/summarization/skills';
export type {
  SummarizationOptions,
  SummaryAttempt,
  SummaryFailoverAttempt,
  SummaryFailoverOptions,
  SummaryRequest,
  SummaryRetryOptions,
} from '../middleware/summarization/options';
export { contextTokens, estimateTokens } from '../middleware/token-count';
export type { TokenCounter } from '../middleware/token-count';
export type { ApprovalOptions, ApprovalRule } from '../middleware/approval/workflow';
export { agentsMd } from '../middleware/agents-md/workflow';
export type { AgentsMdOptions } from '../middleware/agents-md/workflow';
export { filesystem } from '../middleware/filesystem/workflow';
export type { FilesystemOptions } from '../middleware/filesystem/workflow';
export { planTask, tasksOf } from '../middleware/plan-task/workflow';
export type { PlanTaskOptions } from '../middleware/plan-task/workflow';
export type { Task } from '../middleware/plan-task/task-board';
export { skill } from '../middleware/skill/workflow';
export type { SkillOptions } from '../middleware/skill/workflow';
export type { ForkedSkill, SkillAgents } from '../middleware/skill/forked-skill';
export type { Skill, SkillHead } from '../middleware/skill/skills';
export { todo, todosOf } from '../middleware/todo/workflow';
export type { Todo, TodoOptions } from '../middleware/todo/workflow';
export { toolSearch } from '../middleware/tool-search/workflow';
export type { ToolSearchOptions } from '../middleware/tool-search/workflow';
export type { DeferredTools } from '../contract/manifest';
export type { Observed, ObservedEnd, ObservedError, ObservedRequest, ObservedResponse, Observer } from '../contract/observed';
export { toolCallIn, toolCallsIn, toolNameIn } from '../kernel/hooks/context';
export type { ToolAliases } from '../contract/run-options';
export { HoldfastError, codeOf } from '../contract/errors';
export type { ErrorCode } from '../contract/errors';
export type { Json, Message, ModelSettings, Part, ToolCall, Usage } from '../contract/messages/messages';
export { textOf, toolCallsOf } from '../contract/messages/messages';
export { messagesIn, messagesOf } from '../contract/messages/message-shapes';
export type { AgenticBlock, AgenticMessage } from '../contract/messages/agentic-messages';
export type { ChatContent, ChatMessage, ChatPart, ChatToolCall } from '../contract/messages/chat-messages';
export type { AnyMessage, MessageShape, MessageShapes } from '../contract/messages/message-shapes';
export type { ProviderPart } from '../contract/messages/provider-parts';
export type { ApprovalDecision, Interrupt } from '../contract/interrupts';
export { serveAgents } from './agent-run';
export { runAgentAsChild } from './agent-as-child';
export type { ChildAgentOptions } from './agent-as-child';
