/** `holdfast/http`: the service, from a browser or any program that has `fetch`. */

export { ServiceClient } from './service-client';
export type { ServiceClientOptions } from './service-client';

// What it is asked
export type {
  AnswerOfMany,
  AnswerRequest,
  ApplyPolicyRequest,
  CancelRequestBody,
  EventsQuery,
  GoOnRequest,
  InterruptQuery,
  MessageRequest,
  RunQuery,
  StartRequest,
} from './requests';

// What it answers
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

// Events
export { isDelta } from '../contract/deltas';
export type { Delta } from '../contract/deltas';
export type { RunEvent } from '../contract/events';

// Errors
export { HoldfastError, codeOf } from '../contract/errors';
export type { ErrorCode } from '../contract/errors';
