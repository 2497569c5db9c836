export { agentsFor, defineAgent, isAgent } from '../kernel/agent';
export type { Agent, AgentFactory, AgentOptions, ToolArgumentsHandler, UnknownToolHandler } from '../kernel/agent';
export { breakLoopAction, exitAction, transferToAgentAction } from '../kernel/agents/actions';
export type { FlowAction } from '../kernel/agents/actions';
export { agentTool } from '../kernel/agents/agent-tool';
export type { AgentToolOptions } from '../kernel/agents/agent-tool';
export { customAgent, loop, parallel, sequential, setSubAgents, supervisor, withDeterministicTransfer } from '../kernel/agents/define';
export type { AgentPart, CustomAgentOptions, GroupOptions, LoopOptions, ParallelOptions, SupervisorOptions } from '../kernel/agents/define';
export type { CustomContext, CustomEvent, CustomInput, HistoryEntry, HistoryRewriter, RanAgent } from '../kernel/agents/definition';
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
  ToolResultMessages,
  ToolResultMessagesArgs,
} from '../kernel/callbacks/types';
export { approval } from '../middleware/approval/workflow';
export type { ApprovalOptions, ApprovalRule } from '../middleware/approval/workflow';
export type { Observed, ObservedEnd, ObservedError, ObservedRequest, ObservedResponse, Observer } from '../contract/plain/observed';
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
