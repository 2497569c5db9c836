import type { ApiKey, AuditPage, DecisionLink, MadeKey, Me } from '../../contract/access';
import type { BatchPage, ShownBatch } from '../../contract/batches';
import type { RunCall } from '../../contract/calls';
import type { QueuedMessage } from '../../contract/conversations';
import type { FeedPage } from '../../contract/feed';
import type { ListedNotices } from '../../contract/notices';
import type { DeliveryOutcome, KeptDeliveries, ListedTrigger } from '../../contract/deliveries';
import type { Interrupt } from '../../contract/interrupts';
import type { StoredMessage } from '../../contract/messages/messages';
import type { RunExecutions } from '../../contract/run-executions';
import type * as service from '../../contract/service';
import type { BuildList, RunCounts, ServiceFacts, UsageReport } from '../../contract/service-facts';
import type { ListedSchedule, ScheduleSpec, ShownSchedule } from '../../contract/schedules';
import type * as requests from './requests';

// A type alias, so that the types of the client show the member.
type Id = { readonly id: string };

interface Outcomes<Outcome> {
  readonly outcomes: readonly Outcome[];
}

interface By {
  readonly by?: string;
}

interface Page {
  readonly before?: number;
  readonly limit?: number;
}

interface Many {
  readonly ids: readonly string[];
}

interface Operation<Answer, Sent = Record<never, never>> {
  readonly answer: Answer;
  /** Query of GET and DELETE, body of POST and PATCH. */
  readonly sent: Sent;
}

/** Operations by route, against which client, routes and commands are checked. */
export interface Operations {
  readonly 'GET /service': Operation<ServiceFacts>;
  readonly 'GET /counts': Operation<RunCounts, requests.CountsQuery>;
  readonly 'GET /builds': Operation<BuildList>;
  readonly 'GET /usage': Operation<UsageReport, requests.UsageQuery>;
  readonly 'GET /agents': Operation<{ readonly agents: readonly service.ListedAgent[] }>;

  readonly 'GET /me': Operation<Me>;
  readonly 'GET /keys': Operation<{ readonly keys: readonly ApiKey[] }>;
  readonly 'POST /keys': Operation<MadeKey, requests.KeyRequest>;
  readonly 'POST /keys/:id/rotate': Operation<MadeKey, requests.RotateRequest>;
  readonly 'DELETE /keys/:id': Operation<Id>;
  readonly 'GET /audit': Operation<AuditPage, requests.AuditRequest>;

  readonly 'POST /runs': Operation<service.StartedRun, requests.StartRequest>;
  readonly 'GET /runs': Operation<service.RunPage, requests.RunQuery>;
  readonly 'POST /runs/cancel': Operation<Outcomes<service.RunOutcome>, Many & requests.CancelRequestBody & requests.DryRunRequest>;
  readonly 'POST /runs/retry': Operation<Outcomes<service.RunOutcome>, Many & requests.GoOnRequest & requests.DryRunRequest>;
  readonly 'POST /runs/upgrade': Operation<Outcomes<service.RunOutcome>, Many & requests.DryRunRequest>;
  readonly 'GET /runs/:id': Operation<service.ShownRun>;
  readonly 'GET /runs/:id/transcript': Operation<{ readonly messages: readonly StoredMessage[] }>;
  readonly 'GET /runs/:id/interrupts': Operation<{ readonly interrupts: readonly Interrupt[] }>;
  readonly 'GET /runs/:id/calls/:address': Operation<RunCall, Page>;
  readonly 'GET /runs/:id/executions': Operation<RunExecutions>;
  readonly 'POST /runs/:id/interrupts/:interruptId': Operation<Id & { readonly interruptId: string }, requests.AnswerRequest>;
  readonly 'POST /runs/:id/interrupts/:interruptId/links': Operation<DecisionLink, requests.LinkRequest>;
  readonly 'POST /runs/:id/cancel': Operation<Id, requests.CancelRequestBody>;
  readonly 'POST /runs/:id/resume': Operation<Id, requests.GoOnRequest>;
  readonly 'POST /runs/:id/retry': Operation<Id, requests.GoOnRequest>;
  readonly 'POST /runs/:id/upgrade': Operation<Id & { readonly build: string; readonly moved: boolean }>;
  readonly 'POST /runs/:id/terminate': Operation<Id, { readonly reason?: string }>;

  readonly 'GET /events': Operation<FeedPage, requests.FeedQuery>;
  readonly 'GET /batches': Operation<BatchPage, requests.BatchQuery>;
  readonly 'GET /batches/:id': Operation<ShownBatch>;
  readonly 'POST /batches/:id/stop': Operation<Id, requests.StopBatchRequest>;

  readonly 'GET /interrupts': Operation<service.InterruptPage, requests.InterruptQuery>;
  readonly 'POST /interrupts/answer': Operation<Outcomes<service.AnswerOutcome>, { readonly answers: readonly requests.AnswerOfMany[] }>;
  readonly 'GET /policies': Operation<{ readonly policies: readonly service.ListedPolicy[] }>;
  readonly 'POST /policies/:name/apply': Operation<service.PolicyPage, requests.ApplyPolicyRequest>;

  readonly 'GET /triggers': Operation<{ readonly triggers: readonly ListedTrigger[] }>;
  readonly 'GET /triggers/:name/deliveries': Operation<KeptDeliveries, { readonly limit?: number }>;
  readonly 'POST /triggers/:name/deliveries/:delivery/replay': Operation<DeliveryOutcome>;
  readonly 'DELETE /triggers/:name/deliveries/:delivery': Operation<Id>;
  readonly 'GET /notices': Operation<ListedNotices, { readonly limit?: number }>;
  readonly 'POST /notices/:notice/send': Operation<Id>;
  readonly 'DELETE /notices/:notice': Operation<Id>;
  readonly 'GET /schedules': Operation<{ readonly schedules: readonly ListedSchedule[] }>;
  readonly 'GET /schedules/:name': Operation<ShownSchedule>;
  readonly 'POST /schedules/:name': Operation<ShownSchedule, ScheduleSpec>;
  readonly 'POST /schedules/:name/pause': Operation<Id, { readonly note?: string }>;
  readonly 'POST /schedules/:name/resume': Operation<Id>;
  readonly 'POST /schedules/:name/run': Operation<Id>;
  readonly 'POST /schedules/:name/backfill': Operation<{ readonly times: number }, requests.BackfillRequest>;
  readonly 'DELETE /schedules/:name': Operation<Id>;

  readonly 'POST /conversations/:id/messages': Operation<service.MessageReceipt, requests.MessageRequest>;
  readonly 'GET /conversations/:id': Operation<service.ShownConversation>;
  readonly 'GET /conversations/:id/transcript': Operation<service.TranscriptPage, Page>;
  readonly 'GET /conversations/:id/queue': Operation<{ readonly messages: readonly QueuedMessage[] }>;
  readonly 'PATCH /conversations/:id/queue/:message': Operation<Id, Pick<requests.MessageRequest, 'message' | 'by'>>;
  readonly 'DELETE /conversations/:id/queue/:message': Operation<Id, By>;
  readonly 'POST /conversations/:id/title': Operation<Id, By & { readonly title: string }>;
  readonly 'POST /conversations/:id/pause': Operation<Id, By>;
  readonly 'POST /conversations/:id/unpause': Operation<Id, By>;
  readonly 'POST /conversations/:id/stop': Operation<Id, By>;
  readonly 'POST /conversations/:id/end': Operation<Id, By & { readonly mode?: 'after-turn' | 'now' }>;
}

export type Route = keyof Operations;

/** The names in a path, as in `/runs/:id`. */
export type NamesIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesIn<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;
