/** `holdfast/workflow`: the parts of an agents module. The module runs in the workflow sandbox. */

export { agentsFor, defineAgent } from '../kernel/define/agent';
export { isAgent } from '../kernel/define/agent-ref';
export type { AgentFactory } from '../kernel/define/agent';
export type { AgentOptions, ToolArgumentsHandler, HistoryEntry, HistoryRewriter } from '../kernel/define/agent-options';
export type { Agent, AgentInput } from '../kernel/define/agent-ref';
export type { JobSchema } from '../contract/schema/job-schema';
export type { IterationLimit } from '../kernel/define/iteration-limits';
export type { FailoverAttempt, FailoverOptions, RetryAttempt, RetryDecision, RetryOptions } from '../kernel/define/retry-options';
export type { ToolAliases } from '../contract/run-options';

export { breakLoopAction, exitAction, transferToAgentAction } from '../kernel/define/actions';
export type { FlowAction } from '../kernel/define/actions';
export { deepAgent } from '../middleware/deep/workflow';
export { planExecute } from '../middleware/plan-execute/workflow';
export type { ExecutedStep, PlanExecuteOptions } from '../middleware/plan-execute/workflow';
export { agentTool } from '../kernel/agents/agent-tool';
export type { AgentToolOptions } from '../kernel/agents/agent-tool';
export { customAgent, loop, parallel, sequential, supervisor } from '../kernel/define/define';
export type { AgentPart, CustomAgentOptions } from '../kernel/define/define';
export type { AgentObserver, CustomContext, CustomEvent } from '../kernel/define/definition';

export { onWorker } from '../kernel/define/middleware';
export { traitsOf, withTraits } from '../kernel/define/traits';
export type { Traits } from '../kernel/define/traits';
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
  ToolContext,
  Tools,
  WorkflowTool,
} from '../kernel/define/middleware';
export type { Observed, ObservedEnd, ObservedError, ObservedRequest, ObservedResponse, Observer } from '../contract/observed';

export { serveAgents } from './agent-run';
export { runAgentAsChild } from './agent-as-child';
export type { ChildAgentOptions } from './agent-as-child';

export { StopError, isToolProblem } from '../kernel/effects/errors';
export { HoldfastError, codeOf } from '../contract/errors';
export type { ErrorCode } from '../contract/errors';
export type { Json, Message, ModelSettings, Part, ToolCall, Usage } from '../contract/messages/messages';
export { textOf, toolCallsOf } from '../contract/messages/messages';
export type { ApprovalDecision } from '../contract/decisions';
export type { Interrupt } from '../contract/interrupts';
