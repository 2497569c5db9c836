export { agentsFor, defineAgent, isAgent } from '../kernel/agent';
export type { Agent, AgentFactory, AgentOptions, ToolArgumentsHandler, UnknownToolHandler } from '../kernel/agent';
export { breakLoopAction, exitAction, transferToAgentAction } from '../kernel/agents/actions';
export type { FlowAction } from '../kernel/agents/actions';
export { deepAgent } from '../middleware/deep/workflow';
export type { DeepAgentOptions } from '../middleware/deep/workflow';
export { planExecute } from '../middleware/plan-execute/workflow';
export type { ExecutedStep, PlanExecuteOptions, PlanState, PlanningOptions } from '../middleware/plan-execute/workflow';
export { agentTool } from '../kernel/agents/agent-tool';
export type { AgentToolOptions } from '../kernel/agents/agent-tool';
export { customAgent, loop, parallel, sequential, setSubAgents, supervisor, withDeterministicTransfer } from '../kernel/agents/define';
export type { AgentPart, CustomAgentOptions, GroupOptions, LoopOptions, ParallelOptions, SupervisorOptions } from '../kernel/agents/define';
export type {
  AgentObserver,
  CustomContext,
  CustomEvent,
  CustomInput,
  HistoryEntry,
  HistoryRewriter,
  RanAgent,
} from '../kernel/agents/definition';
export type { ClassicMiddleware, MiddlewareEntry, ToolCallMiddleware, ToolCallWrap } from '../kernel/classic-middleware';
export type { IterationLimit } from '../kernel/limit-options';
export { eventSenderModelWrapper, eventSenderToolWrapper } from '../kernel/event-senders';
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
} from '../kernel/handlers';
export { onWorker } from '../kernel/middleware';
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
} from '../kernel/middleware';
export { agenticMiddleware, chatMiddleware } from '../kernel/shaped-middleware';
export type {
  FailoverAttempt,
  FailoverChoice,
  FailoverOptions,
  ModelError,
  RetryAttempt,
  RetryDecision,
  RetryOptions,
} from '../kernel/retry-options';
export { callbacks } from '../kernel/callbacks/callbacks';
export type { CallbacksOptions } from '../kernel/callbacks/callbacks';
export { detachedInvocation, getStateValue, toolStateKey } from '../kernel/callbacks/invocation';
export { plugin } from '../kernel/callbacks/plugins';
export type { AfterToolMessagesArgs, Plugin } from '../kernel/callbacks/plugins';
export { agentCallbacks, modelCallbacks, toolCallbacks } from '../kernel/callbacks/sets';
export type { AgentCallbacks, ModelCallbacks, ToolCallbacks } from '../kernel/callbacks/sets';
export { StopError } from '../kernel/callbacks/stop-error';
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
} from '../kernel/callbacks/types';
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
export type { DeferredTools } from '../contract/plain/manifest';
export type { Observed, ObservedEnd, ObservedError, ObservedRequest, ObservedResponse, Observer } from '../contract/plain/observed';
export { toolCallIn, toolCallsIn, toolNameIn } from '../kernel/context';
export type { ToolAliases } from '../contract/plain/run-options';
export { HoldfastError, codeOf } from '../contract/plain/errors';
export type { ErrorCode } from '../contract/plain/errors';
export type { Json, Message, ModelSettings, Part, ToolCall, Usage } from '../contract/plain/messages';
export { textOf, toolCallsOf } from '../contract/plain/messages';
export { messagesIn, messagesOf } from '../contract/plain/message-shapes';
export type { AgenticBlock, AgenticMessage } from '../contract/plain/agentic-messages';
export type { ChatContent, ChatMessage, ChatPart, ChatToolCall } from '../contract/plain/chat-messages';
export type { AnyMessage, MessageShape, MessageShapes } from '../contract/plain/message-shapes';
export type { ProviderPart } from '../contract/plain/provider-parts';
export type { ApprovalDecision, Interrupt } from '../contract/plain/interrupts';
export { serveAgents } from './agent-run';
export { runAgentAsChild } from './agent-as-child';
export type { ChildAgentOptions } from './agent-as-child';
