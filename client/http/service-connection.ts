import { createParser } from 'eventsource-parser';
import { withoutCredentials } from '../../contract/credentials';
import type { Delta } from '../../contract/deltas';
import { HoldfastError, isErrorCode, messageOf } from '../../contract/errors';
import type { RunEvent } from '../../contract/events';
import type { MaybePromise } from '../../contract/maybe-promise';
import type * as requests from './requests';
import type { NamesIn, Operations, Route } from './operations';
import { bearer, pathOf, queryText, textsOf } from './request-parts';

export interface ServiceClientOptions {
  /** An API key, a token, or a function that returns the current token. Sent as `Authorization: Bearer …`. */
  readonly key?: string | (() => MaybePromise<string>);
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the `fetch` of the platform. */
  readonly fetch?: typeof fetch;
}

interface Lines {
  readonly lines: BodyInit;
}

export class ServiceConnection {
  readonly url: string;

  constructor(
    url: string,
    private readonly options: ServiceClientOptions = {},
  ) {
    this.url = url.replace(/\/+$/, '');
  }

  protected async *frames(id: string, { signal, ...query }: requests.EventsQuery, deltas: boolean): AsyncGenerator<RunEvent | Delta> {
    const response = await this.request(
      'GET',
      `${pathOf('/runs/:id/events', { id })}${queryText({ ...query, deltas })}`,
      undefined,
      signal,
    );
    if (response.status === 204 || response.body === null) return;
    if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) throw this.stranger(response);
    const frames: string[] = [];
    const parser = createParser({ onEvent: ({ data }) => frames.push(data) });
    for await (const text of this.texts(response, signal)) {
      parser.feed(text);
      for (const frame of frames.splice(0)) yield this.parsed<RunEvent | Delta>(frame, response);
    }
  }

  protected texts(response: Response, signal?: AbortSignal): AsyncGenerator<string> {
    return textsOf(response, (error) => this.unreachable(error, signal));
  }

  protected async ask<R extends Route>(
    route: R,
    names: Readonly<Record<NamesIn<R>, string>>,
    sent: Operations[R]['sent'] = {},
  ): Promise<Operations[R]['answer']> {
    const [method = '', path = ''] = route.split(' ');
    const inQuery = method === 'GET' || method === 'DELETE';
    return this.json(await this.request(method, `${pathOf(path, names)}${inQuery ? queryText(sent) : ''}`, inQuery ? undefined : sent));
  }

  protected async request(method: string, path: string, body?: object | Lines, signal?: AbortSignal): Promise<Response> {
    const { headers, key, fetch: send = fetch } = this.options;
    const all = new Headers(headers);
    if (key !== undefined) all.set('authorization', bearer(typeof key === 'string' ? key : await key()));
    const isLines = body !== undefined && 'lines' in body;
    if (body !== undefined) all.set('content-type', isLines ? 'application/jsonl' : 'application/json');
    const response = await send(`${this.url}${path}`, {
      method,
      headers: all,
      ...(body === undefined ? {} : isLines ? { body: body.lines, duplex: 'half' } : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    }).catch((error: unknown) => Promise.reject(this.unreachable(error, signal)));
    if (response.ok) return response;
    const { error } = (await this.json<{ error?: { code?: unknown; message?: unknown } } | null>(response)) ?? {};
    if (!isErrorCode(error?.code)) throw this.stranger(response);
    throw new HoldfastError(error.code, String(error.message));
  }

  protected async json<T>(response: Response): Promise<T> {
    const text = await response.text().catch((error: unknown) => Promise.reject(this.unreachable(error)));
    return this.parsed<T>(text, response);
  }

  protected parsed<T>(text: string, response: Response): T {
    try {
      return JSON.parse(text) as T;
    } catch {
      throw this.stranger(response);
    }
  }

  protected unreachable(error: unknown, signal?: AbortSignal): unknown {
    if (signal?.aborted === true) return signal.reason;
    const cause = (error as { cause?: unknown }).cause ?? error;
    const { code } = cause as { code?: unknown };
    const reason = typeof code === 'string' ? code : withoutCredentials(messageOf(cause));
    const place = withoutCredentials(this.url);
    return new HoldfastError('service-unreachable', `No Holdfast service answers at ${place} (${reason}).`, { cause: error });
  }

  protected stranger(response: Response): HoldfastError {
    return new HoldfastError(
      'service-unreachable',
      `What answers at ${withoutCredentials(this.url)} is no Holdfast service (status ${response.status}).`,
    );
  }
}
