import type { RunCall } from '../../../contract/calls';
import type { QueuedMessage } from '../../../contract/conversations';
import type { Interrupt } from '../../../contract/interrupts';
import type { Json } from '../../../contract/messages/messages';
import type { RunExecutions } from '../../../contract/run-executions';
import type * as service from '../../../contract/service';
import type { BuildList, RunCounts, ServiceFacts, UsageReport } from '../../../contract/service-facts';
import type { ErrorBody } from '../error-response';
import type { OpenAiErrorBody } from '../../responses/error-form';

/** The answers of routes, by their names in operations. `npm run answers` makes answers.json of these types for the OpenAPI document. */
export interface Answers {
  readonly Agents: { readonly agents: readonly service.ListedAgent[] };
  readonly Answered: { readonly id: string; readonly interruptId: string };
  readonly AnswerOutcomes: { readonly outcomes: readonly service.AnswerOutcome[] };
  readonly BuildList: BuildList;
  readonly ChatMessages: { readonly messages: readonly object[] };
  readonly Conversation: service.ShownConversation;
  readonly Health: { readonly status: 'ok' };
  readonly Id: { readonly id: string };
  readonly InterruptPage: service.InterruptPage;
  readonly Interrupts: { readonly interrupts: readonly Interrupt[] };
  readonly Messages: { readonly messages: readonly Json[] };
  readonly OpenAiError: OpenAiErrorBody;
  readonly OpenApi: { readonly openapi: '3.1.0'; readonly [part: string]: unknown };
  readonly Policies: { readonly policies: readonly service.ListedPolicy[] };
  readonly PolicyPage: service.PolicyPage;
  readonly Problem: ErrorBody;
  /** In the form of a protocol. */
  readonly Protocol: object;
  readonly Queue: { readonly messages: readonly QueuedMessage[] };
  readonly Readiness: { readonly status: 'ready' };
  readonly Receipt: service.MessageReceipt;
  readonly RpcResponse: { readonly jsonrpc: '2.0' };
  readonly Run: service.ShownRun;
  readonly RunCall: RunCall;
  readonly RunCounts: RunCounts;
  readonly RunExecutions: RunExecutions;
  readonly RunOutcomes: { readonly outcomes: readonly service.RunOutcome[] };
  readonly RunPage: service.RunPage;
  readonly ServiceFacts: ServiceFacts;
  readonly Started: service.StartedRun;
  readonly Stopped: { readonly threadId: string };
  readonly TranscriptPage: service.TranscriptPage;
  readonly Upgraded: { readonly id: string; readonly build: string; readonly moved: boolean };
  readonly UsageReport: UsageReport;
}
