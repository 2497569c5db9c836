import { z } from 'zod';
import { CancelInput, RunAgentInput } from '../../agui/input';
import { ChatBody } from '../../ai-sdk/request';
import { CreateBody, StreamQuery } from '../../responses/request';
import {
  AnswerBody,
  AnswerManyBody,
  ApplyPolicyBody,
  ByBody,
  ByQuery,
  CallQuery,
  CancelBody,
  CancelManyBody,
  ChangeBody,
  ChatQuery,
  CountsQuery,
  DecisionBody,
  EndBody,
  EventsQuery,
  InboxQuery,
  ListQuery,
  MessageBody,
  NoBody,
  PageQuery,
  ReaderQuery,
  ResumeRunBody,
  RetryBody,
  RetryManyBody,
  StartBody,
  TerminateBody,
  TitleBody,
  TranscriptQuery,
  UpgradeManyBody,
  UsageQuery,
} from '../schemas';
import * as answers from './answers';
import * as serviceAnswers from './service-answers';

/** What comes back: JSON of a schema, a stream of events, or text of another kind. With a schema and a type it is one or the other. */
export interface ToldAnswer {
  readonly says: string;
  readonly schema?: z.ZodType;
  readonly type?: string;
}

export interface Operation {
  readonly group: 'Service' | 'Runs' | 'Interrupts' | 'Policies' | 'Conversations' | 'Protocols';
  readonly summary: string;
  readonly body?: z.ZodType;
  readonly query?: z.ZodObject;
  /** Headers that are read, beside those of every request, with what they say. */
  readonly headers?: Readonly<Record<string, string>>;
  /** By the status. Problems are the same everywhere. */
  readonly answers: Readonly<Record<number, ToldAnswer>>;
}

const json = (schema: z.ZodType, says: string): ToldAnswer => ({ says, schema });
const events = 'text/event-stream';
const rpc = z.looseObject({ jsonrpc: z.literal('2.0'), method: z.string(), id: z.union([z.string(), z.number(), z.null()]).optional() });
const rpcAnswers = {
  200: { ...json(z.looseObject({ jsonrpc: z.literal('2.0') }), 'The result or the error, or a stream of both.'), type: events },
};
const rpcHeaders = { 'A2A-Version': 'The version that the client speaks. Absent: 1.0.' };
const openAi = (says: string): Operation['answers'] => ({ 200: json(z.looseObject({}), says) });
const openAiOrEvents = (says: string): Operation['answers'] => ({ 200: { ...json(z.looseObject({}), says), type: events } });
const done = { 200: json(answers.Id, 'It is done.') };

/** Each route, with the schema by which its requests are checked. A test compares them with the routes of the app. */
export const operations: Readonly<Record<string, Operation>> = {
  'GET /': { group: 'Service', summary: 'The console, for people.', answers: { 200: { says: 'A page.', type: 'text/html' } } },
  'GET /console/:file': { group: 'Service', summary: 'A file of the console.', answers: { 200: { says: 'Its content.', type: '*/*' } } },
  'GET /health': { group: 'Service', summary: 'Says that the process is there.', answers: { 200: json(answers.Health, 'It is there.') } },
  'GET /readyz': {
    group: 'Service',
    summary: 'Says whether the Temporal server answers.',
    answers: { 200: json(answers.Readiness, 'It answers.') },
  },
  'GET /openapi.json': {
    group: 'Service',
    summary: 'This document.',
    answers: { 200: json(z.looseObject({ openapi: z.string() }), 'OpenAPI 3.1.') },
  },
  'GET /openapi': { group: 'Service', summary: 'This document as a page.', answers: { 200: { says: 'A page.', type: 'text/html' } } },
  'GET /service': {
    group: 'Service',
    summary: 'Says what the service is, and what it serves.',
    answers: { 200: json(serviceAnswers.ServiceFacts, 'Version, place, agents, tools, models, limits and problems.') },
  },
  'GET /counts': {
    group: 'Service',
    summary: 'Counts runs by their status.',
    query: CountsQuery,
    answers: { 200: json(serviceAnswers.RunCounts, 'The counts, at most five seconds old.') },
  },
  'GET /builds': {
    group: 'Service',
    summary: 'Lists builds, newest first.',
    answers: { 200: json(serviceAnswers.BuildList, 'Which one new runs go to, which drain, and which nobody serves.') },
  },
  'GET /usage': {
    group: 'Service',
    summary: 'Sums up the tokens and the cost of model calls.',
    query: UsageQuery,
    answers: { 200: json(serviceAnswers.UsageReport, 'By agent, model or day, with what is not counted yet.') },
  },
  'GET /agents': { group: 'Runs', summary: 'Lists the agents.', answers: { 200: json(answers.Agents, 'All agents.') } },
  'POST /runs': {
    group: 'Runs',
    summary: 'Starts a run. The same id with the same agent and input is the same run.',
    body: StartBody,
    answers: { 201: json(answers.Started, 'The run is new.'), 200: json(answers.Started, 'The run was there.') },
  },
  'GET /runs': {
    group: 'Runs',
    summary: 'Lists runs, newest first.',
    query: ListQuery,
    answers: { 200: json(answers.RunPage, 'A page of runs.') },
  },
  'GET /runs/:id': { group: 'Runs', summary: 'Shows a run.', answers: { 200: json(answers.RunView, 'How it stands.') } },
  'GET /runs/:id/transcript': {
    group: 'Runs',
    summary: 'Reads the messages of a run.',
    query: TranscriptQuery,
    answers: { 200: json(answers.Messages, 'The messages, in the shape that was asked for.') },
  },
  'GET /runs/:id/interrupts': {
    group: 'Interrupts',
    summary: 'Lists what a run waits for.',
    answers: { 200: json(answers.Interrupts, 'Open interrupts.') },
  },
  'GET /runs/:id/events': {
    group: 'Runs',
    summary: 'Follows the log of a run. The header Last-Event-ID goes on behind an event.',
    query: EventsQuery,
    headers: { 'Last-Event-ID': 'The offset of the last event that the reader has. It goes before `from`.' },
    answers: {
      200: { says: 'Each event with its offset as id.', type: events },
      204: { says: 'The reader has all of a run that has ended.' },
    },
  },
  'GET /runs/:id/calls/:address': {
    group: 'Runs',
    summary: 'Shows what a model or a tool was asked in one call, and what came back.',
    query: CallQuery,
    answers: { 200: json(answers.RunCall, 'The call. Of a long request the last messages, or those before a position.') },
  },
  'GET /runs/:id/executions': {
    group: 'Runs',
    summary: 'Lists the executions that a run has gone through in Temporal, with their builds.',
    answers: { 200: json(answers.RunExecutions, 'The executions, the oldest first.') },
  },
  'POST /runs/:id/interrupts/:interruptId': {
    group: 'Interrupts',
    summary: 'Answers. An approval takes a decision.',
    body: z.union([AnswerBody, DecisionBody]),
    answers: { 200: json(answers.Answered, 'The answer counts.') },
  },
  'POST /runs/:id/cancel': { group: 'Runs', summary: 'Asks a run to stop.', body: CancelBody, answers: done },
  'POST /runs/:id/resume': { group: 'Runs', summary: 'Lets a cancelled run go on.', body: ResumeRunBody, answers: done },
  'POST /runs/:id/retry': { group: 'Runs', summary: 'Goes on with a run that has failed.', body: RetryBody, answers: done },
  'POST /runs/:id/upgrade': {
    group: 'Runs',
    summary: 'Moves a run to the newest build.',
    body: NoBody,
    answers: { 200: json(answers.Upgraded, 'Its build, and whether it moved.') },
  },
  'POST /runs/:id/terminate': { group: 'Runs', summary: 'Ends a run at once, without its code.', body: TerminateBody, answers: done },
  'POST /runs/cancel': {
    group: 'Runs',
    summary: 'Asks many runs to stop.',
    body: CancelManyBody,
    answers: { 200: json(answers.RunOutcomes, 'What became of each. Without an error it is done.') },
  },
  'POST /runs/retry': {
    group: 'Runs',
    summary: 'Goes on with many runs that have failed.',
    body: RetryManyBody,
    answers: { 200: json(answers.RunOutcomes, 'What became of each. Without an error it is done.') },
  },
  'POST /runs/upgrade': {
    group: 'Runs',
    summary: 'Moves many runs to the newest build.',
    body: UpgradeManyBody,
    answers: { 200: json(answers.UpgradeOutcomes, 'What became of each. With `dryRun` what would.') },
  },
  'POST /interrupts/answer': {
    group: 'Interrupts',
    summary: 'Gives many answers.',
    body: AnswerManyBody,
    answers: { 200: json(answers.AnswerOutcomes, 'What became of each. Without an error it counts.') },
  },
  'GET /interrupts': {
    group: 'Interrupts',
    summary: 'Lists what waits for somebody, over all runs.',
    query: InboxQuery,
    answers: { 200: json(answers.InterruptPage, 'A page of interrupts.') },
  },
  'GET /policies': {
    group: 'Policies',
    summary: 'Lists the policies of the configuration.',
    answers: { 200: json(answers.Policies, 'All policies.') },
  },
  'POST /policies/:name/apply': {
    group: 'Policies',
    summary: 'Asks again where a policy asks more now.',
    body: ApplyPolicyBody,
    answers: { 200: json(answers.PolicyPage, 'What became of each question.') },
  },
  'POST /conversations/:id/messages': {
    group: 'Conversations',
    summary: 'Says something. With an agent it begins the conversation.',
    body: MessageBody,
    answers: {
      200: json(answers.Receipt, 'The turn in which it takes effect.'),
      202: json(answers.Receipt, 'It waits for its turn.'),
    },
  },
  'GET /conversations/:id': {
    group: 'Conversations',
    summary: 'Shows how a conversation stands.',
    answers: { 200: json(answers.ConversationView, 'How it stands.') },
  },
  'GET /conversations/:id/transcript': {
    group: 'Conversations',
    summary: 'Reads a page of messages, the last page first.',
    query: PageQuery,
    answers: { 200: json(answers.TranscriptPage, 'A page.') },
  },
  'GET /conversations/:id/queue': {
    group: 'Conversations',
    summary: 'Lists the messages that wait for a turn.',
    answers: { 200: json(answers.Queue, 'The queue.') },
  },
  'PATCH /conversations/:id/queue/:message': {
    group: 'Conversations',
    summary: 'Changes a message that waits.',
    body: ChangeBody,
    answers: done,
  },
  'DELETE /conversations/:id/queue/:message': {
    group: 'Conversations',
    summary: 'Takes back a message that waits.',
    query: ByQuery,
    answers: done,
  },
  'POST /conversations/:id/title': { group: 'Conversations', summary: 'Sets the title.', body: TitleBody, answers: done },
  'POST /conversations/:id/pause': { group: 'Conversations', summary: 'Lets no turn begin.', body: ByBody, answers: done },
  'POST /conversations/:id/unpause': { group: 'Conversations', summary: 'Lets turns begin again.', body: ByBody, answers: done },
  'POST /conversations/:id/stop': { group: 'Conversations', summary: 'Stops the turn at work.', body: ByBody, answers: done },
  'POST /conversations/:id/end': { group: 'Conversations', summary: 'Ends a conversation.', body: EndBody, answers: done },
  'GET /agui/:agent': {
    group: 'Protocols',
    summary: 'AG-UI: the capabilities of an agent.',
    answers: { 200: json(z.looseObject({}), 'Capabilities.') },
  },
  'POST /agui/:agent': {
    group: 'Protocols',
    summary: 'AG-UI: runs an agent.',
    body: RunAgentInput,
    answers: { 200: { says: 'Events of AG-UI.', type: events } },
  },
  'POST /agui/:agent/connect': {
    group: 'Protocols',
    summary: 'AG-UI: shows a thread, and what goes on in it.',
    body: RunAgentInput,
    answers: { 200: { says: 'Events of AG-UI.', type: events } },
  },
  'POST /agui/:agent/cancel': {
    group: 'Protocols',
    summary: 'AG-UI: stops the turn at work.',
    body: CancelInput,
    answers: { 200: json(z.object({ threadId: z.string() }), 'It is asked to stop.') },
  },
  'POST /aisdk/:agent': {
    group: 'Protocols',
    summary: 'AI SDK UI: what a page says or answers.',
    body: ChatBody,
    answers: { 200: { says: 'The message stream of AI SDK UI.', type: events } },
  },
  'GET /aisdk/:agent/:chat/stream': {
    group: 'Protocols',
    summary: 'AI SDK UI: the turn at work again, or what came since.',
    query: ChatQuery,
    answers: {
      200: { says: 'The message stream of AI SDK UI.', type: events },
      204: { says: 'No turn is at work, and nothing came since.' },
    },
  },
  'GET /aisdk/:agent/:chat/messages': {
    group: 'Protocols',
    summary: 'AI SDK UI: the messages of a chat.',
    query: ReaderQuery,
    answers: { 200: json(z.object({ messages: z.array(z.looseObject({})) }), 'Messages of AI SDK UI.') },
  },
  'GET /a2a/:agent/.well-known/agent-card.json': {
    group: 'Protocols',
    summary: 'A2A: the card of an agent.',
    answers: { 200: json(z.looseObject({}), 'The card.') },
  },
  'POST /a2a/:agent': { group: 'Protocols', summary: 'A2A: every method.', body: rpc, headers: rpcHeaders, answers: rpcAnswers },
  'POST /a2a/:agent/': {
    group: 'Protocols',
    summary: 'A2A: the same with a / at the end.',
    body: rpc,
    headers: rpcHeaders,
    answers: rpcAnswers,
  },
  'GET /v1/models': { group: 'Protocols', summary: 'OpenAI: the agents as models.', answers: openAi('A list.') },
  'GET /v1/models/:model': { group: 'Protocols', summary: 'OpenAI: an agent as a model.', answers: openAi('A model.') },
  'POST /v1/responses': {
    group: 'Protocols',
    summary: 'OpenAI: says something, or answers, and begins a response.',
    body: CreateBody,
    headers: { 'Idempotency-Key': 'The same request under the same key is one response.' },
    answers: openAiOrEvents('A response, or its events with `stream`.'),
  },
  'GET /v1/responses/:id': {
    group: 'Protocols',
    summary: 'OpenAI: reads a response, or follows it with `stream`.',
    query: StreamQuery,
    answers: openAiOrEvents('A response, or its events.'),
  },
  'GET /v1/responses/:id/input_items': {
    group: 'Protocols',
    summary: 'OpenAI: what a response answers to.',
    answers: openAi('A list of items.'),
  },
  'POST /v1/responses/:id/cancel': { group: 'Protocols', summary: 'OpenAI: stops a response.', answers: openAi('The response.') },
  'DELETE /v1/responses/:id': { group: 'Protocols', summary: 'OpenAI: is refused.', answers: {} },
};
