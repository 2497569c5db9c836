/** `holdfast/client`: start, follow, answer and list runs, without a worker. */

// The client and its runs
export { HoldfastClient, connect } from './connect';
export type { ConnectOptions } from './connect';
export type { InterruptFilter, InterruptListOptions, ListOptions, ListTime } from './listing/list-options';
export type { InterruptPage, ListedInterrupt, ListedRun, RunPage } from '../contract/service';
export { holdfastClientPlugin } from './plugin';
export type { ClientPluginOptions } from './plugin';
export { Conversation } from './conversation';
export type { ByOptions, EndOptions, PageOptions, SendOptions } from './conversation';
export type { ConversationOptions } from './conversation-options';
export type { ConversationMessage, MessageReceipt, TranscriptPage } from '../contract/service';
export type { ConversationView, QueuedMessage, SendMode, TurnStatus } from '../contract/conversations';
export type { StartOptions } from './start-input';
export type { AgentName, InputOfAgent, OutputOfAgent } from './agent-types';
export type { AgentRunOptions, RunOptions, ToolAliases, ToolRunOptions } from '../contract/run-options';
export type { ApplyPolicyOptions } from './policies';
export type { PolicyOutcome, PolicyPage } from '../contract/service';
export { outcomeOf } from './reading/outcome';
export { Run } from './run';
export type { GoOnOptions } from './retry';
export type { CancelOptions, CancelOutcome, CancelReceipt } from './cancel';
export { cancelModes } from '../contract/cancel';
export type { CancelFacts, CancelMode } from '../contract/cancel';
export type { AnswerOptions, ApproveOptions, DelegateOptions, RejectOptions } from './answers';
export type { Outcome } from './reading/outcome';
export type { TranscriptMessage, TranscriptShape } from './reading/transcript';
export type { UsageOptions } from './usage-report';
export type { DryRun } from './dry-runs';
export type { BuildList, BulkAction, RunCounts, ServedBuild, UsageGroup, UsageReport, UsageRow } from '../contract/service-facts';
export type { TemporalSettings } from '../host/connection';

// What runs show
export { isDelta } from '../contract/deltas';
export type { Delta } from '../contract/deltas';
export type { CallStatus, MessageEdit, ModelAsked, ModelRunCall, RequestDiff, RunCall, ToolRunCall } from '../contract/calls';
export type { RunExecution, RunExecutions, ThrownFailure } from '../contract/run-executions';
export type { CallOptions } from './reading/read-call';
export type { ChangedPart, MiddlewareChange } from '../contract/middleware-changes';
export type { ListStatus, RetriedCall, RunEvent, RunStatus, RunView } from '../contract/events';
export type { ApprovalDecision, PolicyDecision } from '../contract/decisions';
export type { Deciders, PlannedStage } from '../contract/policies';
export type { InDoubtDecision, InDoubtInfo, Interrupt, Reconciliation } from '../contract/interrupts';

// Errors
export { HoldfastError, codeOf, errorTable } from '../contract/errors';
export type { ErrorCode } from '../contract/errors';

// Messages
export type { Failure, Json, Message, ModelSettings, Part, StoredMessage, ToolCall, Usage } from '../contract/messages/messages';
export type { ClientTool } from '../contract/client-tools';
export { messagesIn, messagesOf } from '../contract/messages/message-shapes';
export type { AgenticBlock, AgenticMessage } from '../contract/messages/agentic-messages';
export type { ChatContent, ChatMessage, ChatPart, ChatToolCall } from '../contract/messages/chat-messages';
export type { AnyMessage, InputFor, MessageShape, MessageShapes, TextOrMessages } from '../contract/messages/message-shapes';
export type { ProviderPart } from '../contract/messages/provider-parts';
