/** `holdfast/client`: start, follow, answer and list runs, without a worker. */

// The client and its runs
export { HoldfastClient, connect } from './connect';
export type { ConnectOptions } from './connect';
export type { InterruptFilter, InterruptListOptions, ListOptions, ListTime } from './listing/list-options';
export type { InterruptPage, ListedInterrupt, ListedRun, RunPage } from './listing/run-lists';
export { holdfastClientPlugin } from './plugin';
export type { ClientPluginOptions } from './plugin';
export type { StartOptions } from './start-input';
export type { AgentRunOptions, RunOptions, ToolAliases, ToolRunOptions } from '../contract/run-options';
export { outcomeOf } from './reading/outcome';
export { Run } from './run';
export type { RetryOptions } from './retry';
export type { AnswerOptions, ApproveOptions } from './answers';
export type { Outcome } from './reading/outcome';
export type { TranscriptMessage, TranscriptShape } from './reading/transcript';
export type { TemporalSettings } from '../host/connection';

// What runs show
export { isDelta } from '../contract/deltas';
export type { Delta } from '../contract/deltas';
export type { ListStatus, RetriedCall, RunEvent, RunStatus, RunView } from '../contract/events';
export type { ApprovalDecision, InDoubtDecision, Interrupt } from '../contract/interrupts';

// Errors
export { HoldfastError, codeOf, errorTable } from '../contract/errors';
export type { ErrorCode } from '../contract/errors';

// Messages
export type { Failure, Json, Message, ModelSettings, Part, StoredMessage, ToolCall, Usage } from '../contract/messages/messages';
export { messagesIn, messagesOf } from '../contract/messages/message-shapes';
export type { AgenticBlock, AgenticMessage } from '../contract/messages/agentic-messages';
export type { ChatContent, ChatMessage, ChatPart, ChatToolCall } from '../contract/messages/chat-messages';
export type { AnyMessage, MessageShape, MessageShapes } from '../contract/messages/message-shapes';
export type { ProviderPart } from '../contract/messages/provider-parts';
