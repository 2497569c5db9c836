/** `holdfast/http`: the service, for any program with `fetch`. */

export { ServiceClient } from './service-client';
export type { ServiceClientOptions } from './service-client';

export type {
  AnswerOfMany,
  AnswerRequest,
  ApplyPolicyRequest,
  CancelRequestBody,
  CountsQuery,
  DryRunRequest,
  EventsQuery,
  GoOnRequest,
  InterruptQuery,
  MessageRequest,
  RunQuery,
  StartRequest,
  UsageQuery,
} from './requests';

export type { ClientTool } from '../contract/client-tools';

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
} from '../contract/service';

export type {
  BuildList,
  RunCounts,
  ServedAgent,
  ServedBuild,
  ServedLimit,
  ServedModel,
  ServedTool,
  ServiceFacts,
  ServiceProblem,
  UsageGroup,
  UsageReport,
  UsageRow,
} from '../contract/service-facts';

export { isDelta } from '../contract/deltas';
export type { Delta } from '../contract/deltas';
export type { RunEvent } from '../contract/events';

export type { CallStatus, MessageEdit, ModelAsked, ModelRunCall, RequestDiff, RunCall, ToolRunCall } from '../contract/calls';
export type { RunExecution, RunExecutions, ThrownFailure } from '../contract/run-executions';
export type { ChangedPart, MiddlewareChange } from '../contract/middleware-changes';

export { HoldfastError, codeOf } from '../contract/errors';
export type { ErrorCode } from '../contract/errors';
