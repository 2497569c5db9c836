/** `holdfast/callbacks`: callbacks and plugins as tRPC-Agent-Go has them, as one middleware. */

export { callbacks } from './callbacks';
export type { CallbacksOptions } from './callbacks';
export { plugin } from './plugins';
export type { AfterToolMessagesArgs, Plugin } from './plugins';
export { agentCallbacks, modelCallbacks, toolCallbacks } from './sets';
export type { AgentCallbacks, ModelCallbacks, ToolCallbacks } from './sets';

export { detachedInvocation, getStateValue, toolStateKey } from './invocation';
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
  CallbackResultView,
  ChainOutcome,
  Invocation,
  InvocationState,
  ModelRequestDraft,
  ModelResponseDraft,
  ToolResultMessages,
  ToolResultMessagesArgs,
} from './types';
export { StopError } from '../../kernel/effects/errors';
