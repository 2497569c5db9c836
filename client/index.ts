/** `holdfast/client`: start, follow, answer and list runs, without a worker. */

export { HoldfastClient, connect } from './connect';
export type { ConnectOptions } from './connection/connect-options';
export type { ListOptions } from './listing/list-options';
export type { InterruptPage, ListedInterrupt, ListedRun, RunPage } from '../contract/service';
export { holdfastClientPlugin } from './connection/plugin';
export { Conversation } from './conversations/conversation';
export type { ConversationOptions } from './conversations/conversation-options';
export type { SendOptions } from './conversations/conversation';
export type { ConversationMessage, MessageReceipt, TranscriptPage } from '../contract/service';
export type { ConversationView } from '../contract/conversations';
export type { StartOptions } from './runs/start-input';
export type { AgentRunOptions, RunOptions, ToolAliases } from '../contract/run-options';
export type { PolicyOutcome, PolicyPage } from '../contract/service';
export type { Schedules } from './schedules/schedules';
export type { ScheduleSpec, ShownSchedule } from '../contract/schedules';
export { outcomeOf } from './reading/outcome';
export { Run } from './runs/run';
export type { CancelOutcome, CancelReceipt } from './runs/cancel';
export { cancelModes } from '../contract/cancel';
export type { CancelFacts } from '../contract/cancel';
export type { AnswerOptions } from './runs/answers';
export type { Outcome } from './reading/outcome';
export type { TranscriptMessage } from './reading/transcript';
export type { DryRun } from './runs/dry-runs';
export type { BuildList, BulkAction, RunCounts, UsageReport } from '../contract/service-facts';
export type { TemporalSettings } from '../host/connection';

export { isDelta } from '../contract/deltas';
export type { Delta } from '../contract/deltas';
export type { RunCall } from '../contract/calls';
export type { RunExecutions } from '../contract/run-executions';
export type { RunEvent, RunStatus, RunView } from '../contract/events';
export type { ApprovalDecision, PolicyDecision } from '../contract/decisions';
export type { InDoubtDecision, InDoubtInfo, Interrupt, Reconciliation } from '../contract/interrupts';

export { HoldfastError, codeOf, errorTable } from '../contract/errors';
export type { ErrorCode } from '../contract/errors';

export type { Failure, Json, Message, ModelSettings, Part, StoredMessage, ToolCall, Usage } from '../contract/messages/messages';
export type { ClientTool } from '../contract/client-tools';
export { messagesIn, messagesOf } from '../contract/messages/message-shapes';
export type { AgenticMessage } from '../contract/messages/agentic-messages';
export type { ChatMessage } from '../contract/messages/chat-messages';
