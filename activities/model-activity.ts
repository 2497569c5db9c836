import { defined } from '../contract/defined';
import type { CallModelInput, CallModelResult, StoredRequest } from '../contract/record/wire';
import { ActivityCall } from './activity-call';
import { abortOf } from './calls/abort';
import { withValues } from './calls/call-context';
import { CallValues } from './calls/call-values';
import type { Verdict } from './failures';
import { asThrown, failedResult, isCancelled, isCancelledByRun, modelVerdict } from './failures';
import type { Begun } from './health/heartbeat';
import { withHeartbeat } from './health/heartbeat';
import { lateIn } from './health/late-calls';
import type { GateTurn } from './limits/gate';
import { lostText } from './limits/patience';
import type { BrokenAnswer, ModelAnswer } from './models/call-model';
import { generate } from './models/call-model';
import { tellOfModel } from './news';
import type { WorkerParts } from './parts';
import { WrapWatch } from './worker-middleware/wrap-guard';

/** One activity of a call of a model: begin, run with a limit for each model that is asked, settle. */
export class ModelActivity {
  private readonly call: ActivityCall;
  private readonly watch = new WrapWatch();
  private readonly values: CallValues;
  /** What the model is asked, once that is found. */
  private request: StoredRequest | undefined;
  /** What is left of an answer that broke. */
  private left: BrokenAnswer | undefined;

  constructor(
    private readonly parts: WorkerParts,
    private readonly input: CallModelInput,
  ) {
    this.call = new ActivityCall(parts, input, parts.modelFacts);
    this.values = new CallValues({}, lateIn(this.call, parts.onProblem));
  }

  async result(): Promise<CallModelResult> {
    const { address, patience, timeoutMs } = this.call;
    const lost = { code: 'model-failed', message: lostText(this.parts.modelFacts.attempts), retryable: true };
    if (patience.isSpent) return { address, failed: lost, ...this.end() };
    try {
      return this.settle(await withHeartbeat((begun) => this.watch.inTime(timeoutMs, () => this.work(begun)), patience.details));
    } catch (error) {
      return this.fail(error);
    }
  }

  private async work(begun: Begun): Promise<ModelAnswer> {
    return this.run(await this.begin(begun));
  }

  private async begin(begun: Begun): Promise<StoredRequest> {
    const { workflowId, runId, address } = this.call;
    this.values.begin(await this.call.runLocal());
    this.request = await this.parts.messages.resolve(workflowId, runId, address, this.input);
    begun(this.request.slots.stream === 'live');
    return this.request;
  }

  private run(request: StoredRequest): Promise<ModelAnswer> {
    const { agent, address: id, signal, patience, live } = this.call;
    const call = { agent, id, attempt: patience.attempt, signal, ...this.values.access() };
    const parts = { ...this.parts, turnOf: (model: string, asked: unknown) => this.limit(model, asked) };
    const publish = request.slots.stream === 'live' ? live?.publish : undefined;
    const onBreak = (left: BrokenAnswer): void => void (this.left = left);
    return withValues(this.values, () => generate(request, parts, call, { publish, onBreak, watch: this.watch }));
  }

  /** A turn of a model whose calls are limited. */
  private async limit(model: string, asked: unknown): Promise<GateTurn | undefined> {
    return this.parts.turns?.ofModel(model, this.call.caller(true), asked);
  }

  private settle(answer: ModelAnswer): CallModelResult {
    const { address, signal } = this.call;
    // A worker that shuts down aborts its calls too: half an answer counts only when somebody cancelled the run.
    if (answer.finish === 'cancelled' && !isCancelledByRun(signal)) throw abortOf(signal);
    this.call.settle(answer.message);
    return { address, ...answer, ...this.end() };
  }

  private fail(error: unknown): CallModelResult {
    const { address, live, signal, fields } = this.call;
    live?.void();
    const verdict = modelVerdict(error);
    const end = this.end();
    if (isCancelled(error, signal)) throw asThrown(error);
    tellOfModel(fields, verdict, error);
    const failed = failedResult(verdict, this.request?.slots.retries, this.left) ?? this.again(verdict);
    return { address, ...failed, ...end };
  }

  /** What each result has besides. From here on the values change no more. */
  private end(): Partial<CallModelResult> {
    const changes = this.values.end();
    this.call.learn(changes.runLocal);
    return { ...defined({ waited: this.call.patience.details }), ...this.watch.noted, ...changes };
  }

  /** Lets the server make the call again. Returns what the call ends with when it is not made again. */
  private again(verdict: Verdict): Pick<CallModelResult, 'failed'> {
    const { patience } = this.call;
    const { code, message } = verdict;
    const again = patience.after(verdict);
    if (!('over' in again)) throw this.call.putOff(again, code, message);
    return { failed: patience.failed(again.over, verdict) };
  }
}
