import type { Operations } from '../../../client/http/operations';
import type { StartedBatch } from '../../../contract/batches';
import type { Json } from '../../../contract/messages/messages';
import type { ErrorBody } from '../error-response';
import type { OpenAiErrorBody } from '../../responses/error-form';

type AnswerOf<Route extends keyof Operations> = Operations[Route]['answer'];

/** `npm run answers` makes `answers.json` of the types for the OpenAPI document. */
export interface Answers {
  readonly Agents: AnswerOf<'GET /agents'>;
  readonly Answered: AnswerOf<'POST /runs/:id/interrupts/:interruptId'>;
  readonly AnswerOutcomes: AnswerOf<'POST /interrupts/answer'>;
  readonly AuditPage: AnswerOf<'GET /audit'>;
  readonly Backfill: AnswerOf<'POST /schedules/:name/backfill'>;
  readonly Batch: AnswerOf<'GET /batches/:id'>;
  readonly BatchPage: AnswerOf<'GET /batches'>;
  readonly BuildList: AnswerOf<'GET /builds'>;
  readonly ChatMessages: { readonly messages: readonly object[] };
  readonly Conversation: AnswerOf<'GET /conversations/:id'>;
  readonly DecisionLink: AnswerOf<'POST /runs/:id/interrupts/:interruptId/links'>;
  readonly FeedPage: AnswerOf<'GET /events'>;
  readonly DeliveryOutcome: AnswerOf<'POST /triggers/:name/deliveries/:delivery/replay'>;
  readonly Health: { readonly status: 'ok' };
  readonly Id: AnswerOf<'POST /runs/:id/cancel'>;
  readonly InterruptPage: AnswerOf<'GET /interrupts'>;
  readonly Interrupts: AnswerOf<'GET /runs/:id/interrupts'>;
  readonly KeptDeliveries: AnswerOf<'GET /triggers/:name/deliveries'>;
  readonly Keys: AnswerOf<'GET /keys'>;
  readonly MadeKey: AnswerOf<'POST /keys'>;
  readonly Me: AnswerOf<'GET /me'>;
  readonly Messages: { readonly messages: readonly Json[] };
  readonly OpenAiError: OpenAiErrorBody;
  readonly OpenApi: { readonly openapi: '3.1.0'; readonly [part: string]: unknown };
  readonly Policies: AnswerOf<'GET /policies'>;
  readonly PolicyPage: AnswerOf<'POST /policies/:name/apply'>;
  readonly Problem: ErrorBody;
  readonly Protocol: object;
  readonly Queue: AnswerOf<'GET /conversations/:id/queue'>;
  readonly Readiness: { readonly status: 'ready' };
  readonly Receipt: AnswerOf<'POST /conversations/:id/messages'>;
  readonly RpcResponse: { readonly jsonrpc: '2.0' };
  readonly Run: AnswerOf<'GET /runs/:id'>;
  readonly RunCall: AnswerOf<'GET /runs/:id/calls/:address'>;
  readonly RunCounts: AnswerOf<'GET /counts'>;
  readonly RunExecutions: AnswerOf<'GET /runs/:id/executions'>;
  readonly RunOutcomes: AnswerOf<'POST /runs/cancel'>;
  readonly RunPage: AnswerOf<'GET /runs'>;
  readonly Schedule: AnswerOf<'GET /schedules/:name'>;
  readonly Schedules: AnswerOf<'GET /schedules'>;
  readonly ServiceFacts: AnswerOf<'GET /service'>;
  readonly Started: AnswerOf<'POST /runs'>;
  readonly StartedBatch: StartedBatch;
  readonly Stopped: { readonly threadId: string };
  readonly TranscriptPage: AnswerOf<'GET /conversations/:id/transcript'>;
  readonly Triggers: AnswerOf<'GET /triggers'>;
  readonly Upgraded: AnswerOf<'POST /runs/:id/upgrade'>;
  readonly UsageReport: AnswerOf<'GET /usage'>;
}
