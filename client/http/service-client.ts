import type { BatchResult, StartedBatch } from '../../contract/batches';
import { defined } from '../../contract/defined';
import type { Delta } from '../../contract/deltas';
import type { RunEvent } from '../../contract/events';
import type * as requests from './requests';
import type { Operations } from './operations';
import { linesIn, pathOf, queryText } from './request-parts';
import { ServiceConnection } from './service-connection';

/**
 * The service over HTTP. Needs only `fetch`. Errors keep their codes.
 * @example
 * const holdfast = new ServiceClient('http://127.0.0.1:4747');
 * const run = await holdfast.start({ agent: 'support', input: 'Refund order 42' });
 * for await (const event of holdfast.events(run.id, { until: 'waiting' })) console.log(event.type);
 * for (const { id } of await holdfast.interruptsOf(run.id)) await holdfast.answer(run.id, id, { decision: 'approve', by: 'ada' });
 */
export class ServiceClient extends ServiceConnection {
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

  /** Starts a run for each JSON line. `lines` may be a stream. */
  async startBatch(request: requests.BatchRequest, lines: BodyInit): Promise<StartedBatch> {
    return this.json(await this.request('POST', `/batches${queryText(request)}`, { lines }));
  }

  batches(query: requests.BatchQuery = {}) {
    return this.ask('GET /batches', {}, query);
  }

  batch(id: string) {
    return this.ask('GET /batches/:id', { id });
  }

  /** Starts no more runs of the batch. */
  stopBatch(id: string, how: requests.StopBatchRequest = {}) {
    return this.ask('POST /batches/:id/stop', { id }, how);
  }

  /** Streams a result for each line, in the order of the lines. */
  async *batchResults(id: string, query: { readonly status?: BatchResult['status'] } = {}): AsyncGenerator<BatchResult> {
    const response = await this.request('GET', `${pathOf('/batches/:id/results', { id })}${queryText(query)}`);
    for await (const line of linesIn(this.texts(response))) yield this.parsed<BatchResult>(line, response);
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

  /** Lists notices that no receiver has taken. */
  notices(query: { readonly limit?: number } = {}) {
    return this.ask('GET /notices', {}, query);
  }

  sendNotice(id: string) {
    return this.ask('POST /notices/:notice/send', { notice: id });
  }

  dropNotice(id: string) {
    return this.ask('DELETE /notices/:notice', { notice: id });
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

  stop(id: string, by?: string) {
    return this.ask('POST /conversations/:id/stop', { id }, defined({ by }));
  }

  end(id: string, how: { readonly mode?: 'after-turn' | 'now'; readonly by?: string } = {}) {
    return this.ask('POST /conversations/:id/end', { id }, how);
  }
}
