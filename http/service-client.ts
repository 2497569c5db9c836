import { createParser } from 'eventsource-parser';
import { isMessageId } from '../contract/conversations';
import type { QueuedMessage } from '../contract/conversations';
import type { RunCall } from '../contract/calls';
import type { RunExecutions } from '../contract/run-executions';
import { withoutCredentials } from '../contract/credentials';
import { defined } from '../contract/defined';
import type { Delta } from '../contract/deltas';
import { HoldfastError, isErrorCode, messageOf } from '../contract/errors';
import type { RunEvent } from '../contract/events';
import type { Interrupt } from '../contract/interrupts';
import type { StoredMessage } from '../contract/messages/messages';
import { isAnyRunId } from '../contract/record/child-runs';
import type {
  AnswerOutcome,
  InterruptPage,
  ListedAgent,
  ListedPolicy,
  MessageReceipt,
  PolicyPage,
  RunOutcome,
  RunPage,
  ShownConversation,
  ShownRun,
  StartedRun,
  TranscriptPage,
} from '../contract/service';
import type { BuildList, RunCounts, ServiceFacts, UsageReport } from '../contract/service-facts';
import { shown } from '../contract/shown';
import type {
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

export interface ServiceClientOptions {
  /** Go with every request, such as `authorization` for a proxy. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the `fetch` of the platform. */
  readonly fetch?: typeof fetch;
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
type QueryValue = string | number | boolean | readonly string[] | undefined;

interface ById {
  readonly id: string;
}

/** A service, over HTTP. It needs nothing but `fetch`. Errors come back with the code that they had there. */
export class ServiceClient {
  readonly url: string;

  constructor(
    url: string,
    private readonly options: ServiceClientOptions = {},
  ) {
    this.url = url.replace(/\/+$/, '');
  }

  // The service

  service(): Promise<ServiceFacts> {
    return this.get('/service');
  }

  counts(query: CountsQuery = {}): Promise<RunCounts> {
    return this.get(`/counts${queryText(query)}`);
  }

  builds(): Promise<BuildList> {
    return this.get('/builds');
  }

  /** What model calls have used. It may say that some is left: asked again, it has counted more. */
  usage(query: UsageQuery = {}): Promise<UsageReport> {
    return this.get(`/usage${queryText(query)}`);
  }

  // Runs

  async agents(): Promise<readonly ListedAgent[]> {
    return (await this.get<{ readonly agents: readonly ListedAgent[] }>('/agents')).agents;
  }

  start(run: StartRequest): Promise<StartedRun> {
    return this.post('/runs', run);
  }

  list(query: RunQuery = {}): Promise<RunPage> {
    return this.get(`/runs${queryText(query)}`);
  }

  async view(id: string): Promise<ShownRun> {
    return this.get(runPath(id));
  }

  async transcript(id: string): Promise<readonly StoredMessage[]> {
    return (await this.get<{ readonly messages: readonly StoredMessage[] }>(`${runPath(id)}/transcript`)).messages;
  }

  /** What a model or a tool was asked in one call, and what came back. */
  async call(id: string, address: string, query: { readonly before?: number; readonly limit?: number } = {}): Promise<RunCall> {
    if (['', '.', '..'].includes(address)) throw new HoldfastError('call-unknown', `The run "${id}" has no call at ${shown(address)}.`);
    return this.get(`${runPath(id)}/calls/${encodeURIComponent(address)}${queryText(query)}`);
  }

  /** The executions that a run has gone through in Temporal, with their builds. */
  async executions(id: string): Promise<RunExecutions> {
    return this.get(`${runPath(id)}/executions`);
  }

  async cancel(id: string, how: CancelRequestBody = {}): Promise<ById> {
    return this.post(`${runPath(id)}/cancel`, how);
  }

  /** Asks many to stop, and says of each what became of it. With `dryRun` nothing is changed. */
  async cancelAll(ids: readonly string[], how: CancelRequestBody & DryRunRequest = {}): Promise<readonly RunOutcome[]> {
    return (await this.post<{ readonly outcomes: readonly RunOutcome[] }>('/runs/cancel', { ...how, ids })).outcomes;
  }

  async retryAll(ids: readonly string[], how: GoOnRequest & DryRunRequest = {}): Promise<readonly RunOutcome[]> {
    return (await this.post<{ readonly outcomes: readonly RunOutcome[] }>('/runs/retry', { ...how, ids })).outcomes;
  }

  async upgradeAll(ids: readonly string[], how: DryRunRequest = {}): Promise<readonly RunOutcome[]> {
    return (await this.post<{ readonly outcomes: readonly RunOutcome[] }>('/runs/upgrade', { ...how, ids })).outcomes;
  }

  /** Lets a run go on that was cancelled. */
  async resume(id: string, how: GoOnRequest = {}): Promise<ById> {
    return this.post(`${runPath(id)}/resume`, how);
  }

  /** Goes on with a run that has failed. */
  async retry(id: string, how: GoOnRequest = {}): Promise<ById> {
    return this.post(`${runPath(id)}/retry`, how);
  }

  async upgrade(id: string): Promise<ById & { readonly build: string; readonly moved: boolean }> {
    return this.post(`${runPath(id)}/upgrade`, {});
  }

  async terminate(id: string, reason?: string): Promise<ById> {
    return this.post(`${runPath(id)}/terminate`, defined({ reason }));
  }

  /** The log. It ends when the service ends the stream, which it also does when it stops: ask for the run's status then. */
  events(id: string, query: EventsQuery = {}): AsyncGenerator<RunEvent> {
    return this.frames(id, query, false) as AsyncGenerator<RunEvent>;
  }

  /** The same with what calls say while they run. */
  liveEvents(id: string, query: EventsQuery = {}): AsyncGenerator<RunEvent | Delta> {
    return this.frames(id, query, true);
  }

  // What waits for somebody

  /** Over all runs. */
  interrupts(query: InterruptQuery = {}): Promise<InterruptPage> {
    return this.get(`/interrupts${queryText(query)}`);
  }

  async interruptsOf(id: string): Promise<readonly Interrupt[]> {
    return (await this.get<{ readonly interrupts: readonly Interrupt[] }>(`${runPath(id)}/interrupts`)).interrupts;
  }

  async answer(id: string, interruptId: string, answer: AnswerRequest): Promise<ById & { readonly interruptId: string }> {
    if (['', '.', '..'].includes(interruptId))
      throw new HoldfastError('interrupt-unknown', `No interrupt has the id ${shown(interruptId)}.`);
    return this.post(`${runPath(id)}/interrupts/${encodeURIComponent(interruptId)}`, answer);
  }

  async answerAll(answers: readonly AnswerOfMany[]): Promise<readonly AnswerOutcome[]> {
    return (await this.post<{ readonly outcomes: readonly AnswerOutcome[] }>('/interrupts/answer', { answers })).outcomes;
  }

  async policies(): Promise<readonly ListedPolicy[]> {
    return (await this.get<{ readonly policies: readonly ListedPolicy[] }>('/policies')).policies;
  }

  async applyPolicy(name: string, how: ApplyPolicyRequest): Promise<PolicyPage> {
    if (['', '.', '..'].includes(name)) throw new HoldfastError('policy-unknown', `No policy has the name ${shown(name)}.`);
    return this.post(`/policies/${encodeURIComponent(name)}/apply`, how);
  }

  // Conversations

  async conversation(id: string): Promise<ShownConversation> {
    return this.get(conversationPath(id));
  }

  /** A page of messages, the last page first. */
  async messages(id: string, query: { readonly before?: number; readonly limit?: number } = {}): Promise<TranscriptPage> {
    return this.get(`${conversationPath(id)}/transcript${queryText(query)}`);
  }

  /** Says something. Without a turn it waits for a worker, or for the turn at work. */
  async send(id: string, message: MessageRequest): Promise<MessageReceipt> {
    return this.post(`${conversationPath(id)}/messages`, message);
  }

  async queue(id: string): Promise<readonly QueuedMessage[]> {
    return (await this.get<{ readonly messages: readonly QueuedMessage[] }>(`${conversationPath(id)}/queue`)).messages;
  }

  async change(id: string, messageId: string, change: Pick<MessageRequest, 'message' | 'by'>): Promise<ById> {
    return this.json(await this.request('PATCH', queuePath(id, messageId), change));
  }

  async withdraw(id: string, messageId: string, by?: string): Promise<ById> {
    return this.json(await this.request('DELETE', `${queuePath(id, messageId)}${queryText({ by })}`));
  }

  async rename(id: string, title: string, by?: string): Promise<ById> {
    return this.post(`${conversationPath(id)}/title`, { title, ...defined({ by }) });
  }

  async pause(id: string, by?: string): Promise<ById> {
    return this.post(`${conversationPath(id)}/pause`, defined({ by }));
  }

  async unpause(id: string, by?: string): Promise<ById> {
    return this.post(`${conversationPath(id)}/unpause`, defined({ by }));
  }

  /** Ends the turn at work as stopped. */
  async stop(id: string, by?: string): Promise<ById> {
    return this.post(`${conversationPath(id)}/stop`, defined({ by }));
  }

  async end(id: string, how: { readonly mode?: 'after-turn' | 'now'; readonly by?: string } = {}): Promise<ById> {
    return this.post(`${conversationPath(id)}/end`, how);
  }

  private async *frames(id: string, { signal, ...query }: EventsQuery, deltas: boolean): AsyncGenerator<RunEvent | Delta> {
    const path = `${runPath(id)}/events${queryText({ ...query, deltas })}`;
    const response = await this.request('GET', path, undefined, signal);
    if (response.status === 204 || response.body === null) return;
    if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) throw this.stranger(response);
    // Streams behind each other would hand each frame on by itself, which takes longer than to read it.
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    const frames: string[] = [];
    const parser = createParser({ onEvent: ({ data }) => frames.push(data) });
    try {
      for (;;) {
        const next = await reader.read().catch((error: unknown) => Promise.reject(this.unreachable(error, signal)));
        if (next.done) return;
        parser.feed(decoder.decode(next.value, { stream: true }));
        for (const frame of frames.splice(0)) yield this.parsed<RunEvent | Delta>(frame, response);
      }
    } finally {
      await reader.cancel().catch(() => undefined);
    }
  }

  protected async get<T>(path: string): Promise<T> {
    return this.json(await this.request('GET', path));
  }

  private async post<T>(path: string, body: object): Promise<T> {
    return this.json(await this.request('POST', path, body));
  }

  private async request(method: Method, path: string, body?: object, signal?: AbortSignal): Promise<Response> {
    const { headers, fetch: send = fetch } = this.options;
    const all = new Headers(headers);
    if (body !== undefined) all.set('content-type', 'application/json');
    const response = await send(`${this.url}${path}`, {
      method,
      headers: all,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    }).catch((error: unknown) => Promise.reject(this.unreachable(error, signal)));
    if (response.ok) return response;
    const { error } = (await this.json<{ error?: { code?: unknown; message?: unknown } } | null>(response)) ?? {};
    if (!isErrorCode(error?.code)) throw this.stranger(response);
    throw new HoldfastError(error.code, String(error.message));
  }

  private async json<T>(response: Response): Promise<T> {
    const text = await response.text().catch((error: unknown) => Promise.reject(this.unreachable(error)));
    return this.parsed<T>(text, response);
  }

  private parsed<T>(text: string, response: Response): T {
    try {
      return JSON.parse(text) as T;
    } catch {
      throw this.stranger(response);
    }
  }

  /** Who stops reading is told what it said itself. */
  private unreachable(error: unknown, signal?: AbortSignal): unknown {
    if (signal?.aborted === true) return signal.reason;
    const cause = (error as { cause?: unknown }).cause ?? error;
    const { code } = cause as { code?: unknown };
    const reason = typeof code === 'string' ? code : withoutCredentials(messageOf(cause));
    const place = withoutCredentials(this.url);
    return new HoldfastError('service-unreachable', `No Holdfast service answers at ${place} (${reason}).`, { cause: error });
  }

  private stranger(response: Response): HoldfastError {
    return new HoldfastError(
      'service-unreachable',
      `What answers at ${withoutCredentials(this.url)} is no Holdfast service (status ${response.status}).`,
    );
  }
}

function runPath(id: string): string {
  return pathOf('runs', id);
}

function conversationPath(id: string): string {
  return pathOf('conversations', id);
}

function queuePath(id: string, messageId: string): string {
  if (!isMessageId(messageId)) throw new HoldfastError('message-unknown', `No message has the id ${shown(messageId)}.`);
  return `${conversationPath(id)}/queue/${encodeURIComponent(messageId)}`;
}

function pathOf(what: string, id: string): string {
  // What is no id may mean another route: '..' does in every URL.
  if (!isAnyRunId(id)) throw new HoldfastError('run-id-invalid', `${shown(id)} is no id of a run.`);
  return `/${what}/${encodeURIComponent(id)}`;
}

function queryText(query: object): string {
  const set = new URLSearchParams();
  for (const [name, value] of Object.entries(query) as [string, QueryValue][])
    for (const one of Array.isArray(value) ? (value as readonly string[]) : value === undefined ? [] : [String(value)])
      set.append(name, one);
  const text = set.toString();
  return text === '' ? '' : `?${text}`;
}
