import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { MessageReceipt, PolicyPage, TranscriptPage } from '../client/index';
import type { ConversationView } from '../contract/conversations';
import { isMessageId } from '../contract/conversations';
import { defined } from '../contract/defined';
import type { Delta } from '../contract/deltas';
import { HoldfastError, isErrorCode, messageOf } from '../contract/errors';
import type { RunEvent, RunView } from '../contract/events';
import type { Interrupt } from '../contract/interrupts';
import type { Json, StoredMessage } from '../contract/messages/messages';
import { isAnyRunId } from '../contract/record/child-runs';
import { shown } from '../contract/shown';

export interface ShownRun extends Omit<RunView, 'messages'> {
  /** What it has cost, where prices are known. */
  readonly cost?: { readonly amount: number; readonly complete: boolean; readonly unpriced?: readonly string[] };
}

export interface StartedRun {
  readonly id: string;
  readonly isNew: boolean;
  readonly agent: string;
  /** Options that the found run does not have. */
  readonly ignored?: readonly string[];
}

export interface ListedAgent {
  readonly name: string;
  readonly description: string;
  readonly takesJob?: boolean;
  readonly inputSchema?: Json;
}

export interface RunRow {
  readonly id: string;
  readonly agent: string;
  readonly status: string;
  readonly startedAt: string;
  readonly closedAt?: string;
  readonly waitingSince?: string;
  readonly startedBy?: string;
  readonly tags?: readonly string[];
  readonly interrupts: readonly Interrupt[];
}

export interface InboxRow {
  readonly runId: string;
  readonly agent: string;
  readonly waitingSince?: string;
  readonly startedBy?: string;
  readonly tags?: readonly string[];
  readonly interrupt: Interrupt;
}

/** Whether there are more rows, and what asks for them. */
interface More {
  readonly more?: boolean;
  readonly next?: string;
}

/** How a conversation stands. */
export interface ShownConversation extends ConversationView {
  readonly id: string;
  readonly agent: string;
  readonly nextOffset: number;
}

/** Parameters by name. Those of a list stand there one by one. */
type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The commands' way to a service. Its errors come back as they were there. */
export class ServiceClient {
  constructor(
    readonly url: string,
    /** What a command that is shown to the user needs to reach the same service. */
    readonly flags: readonly string[] = [],
  ) {}

  agents(): Promise<{ readonly agents: readonly ListedAgent[] }> {
    return this.get('/agents');
  }

  start(body: object): Promise<StartedRun> {
    return this.post('/runs', body);
  }

  list(query: Query): Promise<More & { readonly runs: readonly RunRow[]; readonly total?: number }> {
    return this.get(`/runs${queryText(query)}`);
  }

  async view(id: string): Promise<ShownRun> {
    return this.get(runPath(id));
  }

  async transcript(id: string): Promise<{ readonly messages: readonly StoredMessage[] }> {
    return this.get(`${runPath(id)}/transcript`);
  }

  inbox(query: Query = {}): Promise<More & { readonly interrupts: readonly InboxRow[] }> {
    return this.get(`/interrupts${queryText(query)}`);
  }

  async answer(id: string, interruptId: string, body: object): Promise<unknown> {
    if (['', '.', '..'].includes(interruptId))
      throw new HoldfastError('interrupt-unknown', `No interrupt has the id ${shown(interruptId)}.`);
    return this.post(`${runPath(id)}/interrupts/${encodeURIComponent(interruptId)}`, body);
  }

  async applyPolicy(name: string, body: object): Promise<PolicyPage> {
    return this.post(`/policies/${encodeURIComponent(name)}/apply`, body);
  }

  async cancel(id: string, body: object = {}): Promise<unknown> {
    return this.post(`${runPath(id)}/cancel`, body);
  }

  async resume(id: string, body: object): Promise<unknown> {
    return this.post(`${runPath(id)}/resume`, body);
  }

  async upgrade(id: string): Promise<{ readonly build: string; readonly moved: boolean }> {
    return this.post(`${runPath(id)}/upgrade`, {});
  }

  async retry(id: string, body: object): Promise<unknown> {
    return this.post(`${runPath(id)}/retry`, body);
  }

  async terminate(id: string, reason: string | undefined): Promise<unknown> {
    return this.post(`${runPath(id)}/terminate`, reason === undefined ? {} : { reason });
  }

  async conversation(id: string): Promise<ShownConversation> {
    return this.get(conversationPath(id));
  }

  async lastMessages(id: string, limit: number): Promise<TranscriptPage> {
    return this.get(`${conversationPath(id)}/transcript${queryText({ limit: String(limit) })}`);
  }

  /** Says something. Without a turn it waits for a worker, or for the turn at work. */
  async send(id: string, body: object): Promise<MessageReceipt> {
    return this.post(`${conversationPath(id)}/messages`, body);
  }

  async withdraw(id: string, message: string, by: string | undefined): Promise<unknown> {
    if (!isMessageId(message)) throw new HoldfastError('message-unknown', `No message has the id ${shown(message)}.`);
    const path = `${conversationPath(id)}/queue/${encodeURIComponent(message)}${queryText(defined({ by }))}`;
    return this.json(await this.request('DELETE', path));
  }

  async changeConversation(id: string, what: 'pause' | 'unpause' | 'title' | 'end', body: object): Promise<unknown> {
    return this.post(`${conversationPath(id)}/${what}`, body);
  }

  /** Ends when the service ends the stream, which it also does when it stops: ask for the run's status then. */
  events(id: string, from: number, until: 'waiting' | 'end'): AsyncGenerator<RunEvent> {
    return this.frames(id, { from: String(from), until, deltas: 'false' }) as AsyncGenerator<RunEvent>;
  }

  /** The same with what calls say while they run. */
  liveEvents(id: string, from: number, until: 'waiting' | 'end'): AsyncGenerator<RunEvent | Delta> {
    return this.frames(id, { from: String(from), until });
  }

  private async *frames(id: string, query: Readonly<Record<string, string>>): AsyncGenerator<RunEvent | Delta> {
    const path = `${runPath(id)}/events${queryText(query)}`;
    const response = await this.request('GET', path);
    if (response.body === null) return;
    const frames = response.body
      .pipeThrough(new TextDecoderStream() as never)
      .pipeThrough(new EventSourceParserStream()) as unknown as AsyncIterable<{ readonly data: string }>;
    const iterator = frames[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await iterator.next().catch((error: unknown) => Promise.reject(this.unreachable(error)));
        if (next.done === true) return;
        yield JSON.parse(next.value.data) as RunEvent | Delta;
      }
    } finally {
      await iterator.return?.().catch(() => undefined);
    }
  }

  protected async get<T>(path: string): Promise<T> {
    return (await this.json(await this.request('GET', path))) as T;
  }

  private async post<T>(path: string, body: object): Promise<T> {
    return (await this.json(await this.request('POST', path, body))) as T;
  }

  private async request(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<Response> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    }).catch((error: unknown) => Promise.reject(this.unreachable(error)));
    if (response.ok) return response;
    const { error } = (await this.json(response)) as { error?: { code?: unknown; message?: unknown } };
    if (!isErrorCode(error?.code)) throw this.stranger(response);
    throw new HoldfastError(error.code, String(error.message));
  }

  private async json(response: Response): Promise<unknown> {
    const text = await response.text().catch((error: unknown) => Promise.reject(this.unreachable(error)));
    try {
      return JSON.parse(text);
    } catch {
      throw this.stranger(response);
    }
  }

  private unreachable(error: unknown): HoldfastError {
    const cause = (error as { cause?: unknown }).cause ?? error;
    const { code } = cause as { code?: unknown };
    const reason = typeof code === 'string' ? code : messageOf(cause);
    return new HoldfastError('service-unreachable', `No Holdfast service answers at ${this.url} (${reason}).`, { cause: error });
  }

  private stranger(response: Response): HoldfastError {
    return new HoldfastError('service-unreachable', `What answers at ${this.url} is no Holdfast service (status ${response.status}).`);
  }
}

function runPath(id: string): string {
  return pathOf('runs', id);
}

function conversationPath(id: string): string {
  return pathOf('conversations', id);
}

function pathOf(what: string, id: string): string {
  // What is no id may mean another route: '..' does in every URL.
  if (!isAnyRunId(id)) throw new HoldfastError('run-id-invalid', `${shown(id)} is no id of a run.`);
  return `/${what}/${encodeURIComponent(id)}`;
}

function queryText(query: Query): string {
  const set = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of typeof value === 'string' ? [value] : (value ?? [])) set.append(name, one);
  return set.size === 0 ? '' : `?${set.toString()}`;
}
