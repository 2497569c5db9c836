import { defined } from '../contract/defined';
import type { CallModelInput, CallModelResult, StoredRequest } from '../contract/record/wire';
import { ActivityCall } from './activity-call';
import { abortOf } from './calls/abort';
import { withValues } from './calls/call-context';
import { CallValues } from './calls/call-values';
import type { BrokenAnswer, Verdict } from './failures';
import { asThrown, classify, failedResult, isCancelled, isCancelledByRun } from './failures';
import type { Begun } from './health/heartbeat';
import { withHeartbeat } from './health/heartbeat';
import { lateIn } from './health/late-calls';
import { lostText } from './limits/patience';
import type { ModelAnswer } from './models/call-model';
import { generate } from './models/call-model';
import type { GenerateRequest } from './models/language-model';
import { tellOfModel } from './news';
import type { WorkerParts } from './parts';
import { WrapWatch } from './worker-middleware/wrap-guard';

export class ModelActivity extends ActivityCall<CallModelInput> {
  private readonly watch = new WrapWatch();
  private readonly values = new CallValues(lateIn(this, this.parts.onProblem));
  private request: StoredRequest | undefined;
  private left: BrokenAnswer | undefined;

  constructor(parts: WorkerParts, input: CallModelInput) {
    super(parts, input, parts.modelFacts);
  }

  async result(): Promise<CallModelResult> {
    const { address, parts, patience, timeoutMs, watch } = this;
    const lost = { code: 'model-failed', message: lostText(parts.modelFacts.attempts), retryable: true };
    if (patience.isSpent) return { address, failed: lost, ...this.end() };
    try {
      return this.settle(await withHeartbeat((begun) => watch.inTime(timeoutMs, () => this.work(begun)), patience.details));
    } catch (error) {
      return this.fail(error);
    }
  }

  private async work(begun: Begun): Promise<ModelAnswer> {
    const request = await this.begin();
    const streams = request.slots.stream === 'live';
    begun(streams);
    return this.run(request, streams);
  }

  private async begin(): Promise<StoredRequest> {
    const { workflowId, runId, address, input } = this;
    this.values.begin(await this.runLocal());
    return (this.request = await this.parts.messages.resolve(workflowId, runId, address, input));
  }

  private run(request: StoredRequest, streams: boolean): Promise<ModelAnswer> {
    const { agent, address: id, signal, patience, live, values, watch } = this;
    const call = { agent, id, attempt: patience.attempt, signal, ...values.access() };
    const turnOf = async (model: string, asked: GenerateRequest) => this.parts.turns?.ofModel(model, this.caller(true), asked);
    const onBreak = (left: BrokenAnswer): void => void (this.left = left);
    const listener = { publish: streams ? live?.publish : undefined, onBreak, watch };
    return withValues(values, () => generate(request, { ...this.parts, turnOf }, call, listener));
  }

  private settle(answer: ModelAnswer): CallModelResult {
    // A worker's shutdown aborts calls, too, but half an answer counts only for a cancelled run.
    if (answer.finish === 'cancelled' && !isCancelledByRun(this.signal)) throw abortOf(this.signal);
    this.live?.settle();
    return { address: this.address, ...answer, ...this.end(answer) };
  }

  private fail(error: unknown): CallModelResult {
    this.live?.void();
    const verdict = classify(error);
    const end = this.end();
    if (isCancelled(error, this.signal)) throw asThrown(error);
    tellOfModel(this.fields, verdict, error);
    const failed = failedResult(verdict, this.request?.slots.retries, this.left) ?? this.again(verdict);
    return { address: this.address, ...failed, ...end };
  }

  private end(answer?: ModelAnswer): Partial<CallModelResult> {
    const changes = this.values.end();
    this.remember(answer?.message, changes.runLocal);
    return { ...defined({ waited: this.patience.details }), ...this.watch.noted, ...changes };
  }

  private again(verdict: Verdict): Pick<CallModelResult, 'failed'> {
    const again = this.patience.after(verdict);
    if (!('over' in again)) throw this.putOff(again, verdict.code, verdict.message);
    return { failed: this.patience.failed(again.over, verdict) };
  }
}
