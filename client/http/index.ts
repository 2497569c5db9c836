/** `holdfast/http`: the service, from a browser or any program that has `fetch`. */

export { ServiceClient } from './service-client';
export type { ServiceClientOptions } from './service-connection';

export type {
  AnswerOfMany,
  AnswerRequest,
  ApplyPolicyRequest,
  AuditRequest,
  CancelRequestBody,
  DryRunRequest,
  EventsQuery,
  GoOnRequest,
  InterruptQuery,
  KeyRequest,
  LinkRequest,
  MessageRequest,
  RotateRequest,
  RunQuery,
  StartRequest,
} from './requests';

export type { ClientTool } from '../../contract/client-tools';

export type { Action, ApiKey, AuditEntry, AuditPage, DecisionLink, MadeKey, Me } from '../../contract/access';

export type { BatchResult, ShownBatch, StartedBatch } from '../../contract/batches';

export type {
  AnswerOutcome,
  InterruptPage,
  ListedAgent,
  ListedInterrupt,
  ListedPolicy,
  ListedRun,
  MessageReceipt,
  PolicyOutcome,
  PolicyPage,
  RunCost,
  RunOutcome,
  RunPage,
  ShownConversation,
  ShownRun,
  StartedRun,
  TranscriptPage,
} from '../../contract/service';

export type { ScheduleSpec } from '../../contract/schedules';

export type {
  BuildList,
  RunCounts,
  ServedAgent,
  ServedLimit,
  ServedModel,
  ServedTool,
  ServiceFacts,
  UsageGroup,
  UsageReport,
  UsageRow,
} from '../../contract/service-facts';

export { isDelta } from '../../contract/deltas';
export type { Delta } from '../../contract/deltas';
export type { RunEvent } from '../../contract/events';

export type { ModelAsked, ModelRunCall, RequestDiff, RunCall, ToolRunCall } from '../../contract/calls';
export type { RunExecution, RunExecutions, ThrownFailure } from '../../contract/run-executions';

export { HoldfastError, codeOf } from '../../contract/errors';
export type { ErrorCode } from '../../contract/errors';
