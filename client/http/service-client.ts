import { createParser } from 'eventsource-parser';
import { withoutCredentials } from '../../contract/credentials';
import { defined } from '../../contract/defined';
import type { Delta } from '../../contract/deltas';
import { HoldfastError, isErrorCode, messageOf } from '../../contract/errors';
import type { RunEvent } from '../../contract/events';
import type { MaybePromise } from '../../contract/maybe-promise';
import type * as requests from './requests';
import type { NamesIn, Operations, Route } from './operations';
import { bearer, pathOf, queryText } from './request-parts';

export interface ServiceClientOptions {
  /** An API key, a token, or a function that returns the current token. Sent as `Authorization: Bearer …`. */
  readonly key?: string | (() => MaybePromise<string>);
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the `fetch` of the platform. */
  readonly fetch?: typeof fetch;
}

/**
 * The service over HTTP. Needs only `fetch`. Errors keep their codes.
 * @example
 * const holdfast = new ServiceClient('http://127.0.0.1:4747');
 * const run = await holdfast.start({ agent: 'support', input: 'Refund order 42' });
 * for await (const event of holdfast.events(run.id, { until: 'waiting' })) console.log(event.type);
 * for (const { id } of await holdfast.interruptsOf(run.id)) await holdfast.answer(run.id, id, { decision: 'approve', by: 'ada' });
 */
export class ServiceClient {
  readonly url: string;

  constructor(
    url: string,
    private readonly options: ServiceClientOptions = {},
  ) {
    this.url = url.replace(/\/+$/, '');
  }

  service() {
    return this.ask('GET /service', {});
  }

  counts(query: requests.CountsQuery = {}) {
    return this.ask('GET /counts', {}, query);
  }

  builds() {
    return this.ask('GET /builds', {});
  }

  /** Returns the usage of model calls. If the report leaves runs out, ask again. */
  usage(query: requests.UsageQuery = {}) {
    return this.ask('GET /usage', {}, query);
  }

  async agents() {
    return (await this.ask('GET /agents', {})).agents;
  }

  /** Says who asks, and what the caller may do. */
  me() {
    return this.ask('GET /me', {});
  }

  async keys() {
    return (await this.ask('GET /keys', {})).keys;
  }

  /** The service shows the key only once. */
  createKey(key: requests.KeyRequest) {
    return this.ask('POST /keys', {}, key);
  }

  /** Makes a key with the same name and roles. The earlier key ends after `keep`. */
  rotateKey(id: string, how: requests.RotateRequest = {}) {
    return this.ask('POST /keys/:id/rotate', { id }, how);
  }

  revokeKey(id: string) {
    return this.ask('DELETE /keys/:id', { id });
  }

  /** Returns the last lines of the audit log, the oldest first. */
  audit(query: requests.AuditRequest = {}) {
    return this.ask('GET /audit', {}, query);
  }

  /** Makes a link with which a named person decides without a login. */
  makeLink(runId: string, interruptId: string, how: requests.LinkRequest) {
    return this.ask('POST /runs/:id/interrupts/:interruptId/links', { id: runId, interruptId }, how);
  }

  start(run: requests.StartRequest) {
    return this.ask('POST /runs', {}, run);
  }

  list(query: requests.RunQuery = {}) {
    return this.ask('GET /runs', {}, query);
  }

  view(id: string) {
    return this.ask('GET /runs/:id', { id });
  }

  async transcript(id: string) {
    return (await this.ask('GET /runs/:id/transcript', { id })).messages;
  }

  /** Returns request and answer of a call. */
  call(id: string, address: string, query: { readonly before?: number; readonly limit?: number } = {}) {
    return this.ask('GET /runs/:id/calls/:address', { id, address }, query);
  }

  /** Returns the run's executions in Temporal, with builds. */
  executions(id: string) {
    return this.ask('GET /runs/:id/executions', { id });
  }

  cancel(id: string, how: requests.CancelRequestBody = {}) {
    return this.ask('POST /runs/:id/cancel', { id }, how);
  }

  /** Asks many runs to stop. `dryRun` changes nothing. */
  async cancelAll(ids: readonly string[], how: requests.CancelRequestBody & requests.DryRunRequest = {}) {
    return (await this.ask('POST /runs/cancel', {}, { ...how, ids })).outcomes;
  }

  async retryAll(ids: readonly string[], how: requests.GoOnRequest & requests.DryRunRequest = {}) {
    return (await this.ask('POST /runs/retry', {}, { ...how, ids })).outcomes;
  }

  async upgradeAll(ids: readonly string[], how: requests.DryRunRequest = {}) {
    return (await this.ask('POST /runs/upgrade', {}, { ...how, ids })).outcomes;
  }

  /** Continues a cancelled run. */
  resume(id: string, how: requests.GoOnRequest = {}) {
    return this.ask('POST /runs/:id/resume', { id }, how);
  }

  /** Continues a failed run. */
  retry(id: string, how: requests.GoOnRequest = {}) {
    return this.ask('POST /runs/:id/retry', { id }, how);
  }

  upgrade(id: string) {
    return this.ask('POST /runs/:id/upgrade', { id });
  }

  terminate(id: string, reason?: string) {
    return this.ask('POST /runs/:id/terminate', { id }, defined({ reason }));
  }

  /** Streams the log until the run ends or the service stops; see the run's status. */
  events(id: string, query: requests.EventsQuery = {}): AsyncGenerator<RunEvent> {
    return this.frames(id, query, false) as AsyncGenerator<RunEvent>;
  }

  /** Streams the log and the output of running calls. */
  liveEvents(id: string, query: requests.EventsQuery = {}): AsyncGenerator<RunEvent | Delta> {
    return this.frames(id, query, true);
  }

  /** Reads a page of the events of all runs. The next page begins at `next` of this page. */
  feed(query: requests.FeedQuery = {}) {
    return this.ask('GET /events', {}, query);
  }

  interrupts(query: requests.InterruptQuery = {}) {
    return this.ask('GET /interrupts', {}, query);
  }

  async interruptsOf(id: string) {
    return (await this.ask('GET /runs/:id/interrupts', { id })).interrupts;
  }

  answer(id: string, interruptId: string, answer: requests.AnswerRequest) {
    return this.ask('POST /runs/:id/interrupts/:interruptId', { id, interruptId }, answer);
  }

  async answerAll(answers: readonly requests.AnswerOfMany[]) {
    return (await this.ask('POST /interrupts/answer', {}, { answers })).outcomes;
  }

  async policies() {
    return (await this.ask('GET /policies', {})).policies;
  }

  applyPolicy(name: string, how: requests.ApplyPolicyRequest) {
    return this.ask('POST /policies/:name/apply', { name }, how);
  }

  async triggers() {
    return (await this.ask('GET /triggers', {})).triggers;
  }

  /** Lists deliveries of a trigger that started no run, newest first. */
  deliveries(trigger: string, query: { readonly limit?: number } = {}) {
    return this.ask('GET /triggers/:name/deliveries', { name: trigger }, query);
  }

  /** Makes a run of a kept delivery, with the configuration of today. */
  replayDelivery(trigger: string, id: string) {
    return this.ask('POST /triggers/:name/deliveries/:delivery/replay', { name: trigger, delivery: id });
  }

  /** A repeat of a dropped delivery is ignored. */
  dropDelivery(trigger: string, id: string) {
    return this.ask('DELETE /triggers/:name/deliveries/:delivery', { name: trigger, delivery: id });
  }

  async schedules() {
    return (await this.ask('GET /schedules', {})).schedules;
  }

  schedule(name: string) {
    return this.ask('GET /schedules/:name', { name });
  }

  setSchedule(name: string, spec: Operations['POST /schedules/:name']['sent']) {
    return this.ask('POST /schedules/:name', { name }, spec);
  }

  pauseSchedule(name: string, how: { readonly note?: string } = {}) {
    return this.ask('POST /schedules/:name/pause', { name }, how);
  }

  resumeSchedule(name: string) {
    return this.ask('POST /schedules/:name/resume', { name });
  }

  runSchedule(name: string) {
    return this.ask('POST /schedules/:name/run', { name });
  }

  backfillSchedule(name: string, range: requests.BackfillRequest) {
    return this.ask('POST /schedules/:name/backfill', { name }, range);
  }

  deleteSchedule(name: string) {
    return this.ask('DELETE /schedules/:name', { name });
  }

  conversation(id: string) {
    return this.ask('GET /conversations/:id', { id });
  }

  /** Returns a page of messages. Default: the last page. */
  messages(id: string, query: { readonly before?: number; readonly limit?: number } = {}) {
    return this.ask('GET /conversations/:id/transcript', { id }, query);
  }

  /** Sends a message. Without a turn in the receipt, the message waits for a worker or for the turn at work. */
  send(id: string, message: requests.MessageRequest) {
    return this.ask('POST /conversations/:id/messages', { id }, message);
  }

  async queue(id: string) {
    return (await this.ask('GET /conversations/:id/queue', { id })).messages;
  }

  change(id: string, messageId: string, change: Pick<requests.MessageRequest, 'message' | 'by'>) {
    return this.ask('PATCH /conversations/:id/queue/:message', { id, message: messageId }, change);
  }

  withdraw(id: string, messageId: string, by?: string) {
    return this.ask('DELETE /conversations/:id/queue/:message', { id, message: messageId }, defined({ by }));
  }

  rename(id: string, title: string, by?: string) {
    return this.ask('POST /conversations/:id/title', { id }, { title, ...defined({ by }) });
  }

  pause(id: string, by?: string) {
    return this.ask('POST /conversations/:id/pause', { id }, defined({ by }));
  }

  unpause(id: string, by?: string) {
    return this.ask('POST /conversations/:id/unpause', { id }, defined({ by }));
  }

  /** Ends the turn at work as stopped. */
  stop(id: string, by?: string) {
    return this.ask('POST /conversations/:id/stop', { id }, defined({ by }));
  }

  end(id: string, how: { readonly mode?: 'after-turn' | 'now'; readonly by?: string } = {}) {
    return this.ask('POST /conversations/:id/end', { id }, how);
  }

  private async *frames(id: string, { signal, ...query }: requests.EventsQuery, deltas: boolean): AsyncGenerator<RunEvent | Delta> {
    const response = await this.request(
      'GET',
      `${pathOf('/runs/:id/events', { id })}${queryText({ ...query, deltas })}`,
      undefined,
      signal,
    );
    if (response.status === 204 || response.body === null) return;
    if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) throw this.stranger(response);
    // Chained streams would pass on every frame separately, which is slow.
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

  private async ask<R extends Route>(
    route: R,
    names: Readonly<Record<NamesIn<R>, string>>,
    sent: Operations[R]['sent'] = {},
  ): Promise<Operations[R]['answer']> {
    const [method = '', path = ''] = route.split(' ');
    const inQuery = method === 'GET' || method === 'DELETE';
    return this.json(await this.request(method, `${pathOf(path, names)}${inQuery ? queryText(sent) : ''}`, inQuery ? undefined : sent));
  }

  private async request(method: string, path: string, body?: object, signal?: AbortSignal): Promise<Response> {
    const { headers, key, fetch: send = fetch } = this.options;
    const all = new Headers(headers);
    if (key !== undefined) all.set('authorization', bearer(typeof key === 'string' ? key : await key()));
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
