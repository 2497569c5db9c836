import { Context } from '@temporalio/activity';
import type { ModelFacts } from '../contract/manifest';
import type { StoredMessage } from '../contract/messages/messages';
import { runIdOf } from '../contract/names';
import { agentOfPath } from '../contract/record/agent-paths';
import type { CallChange, CallToolInput } from '../contract/record/wire';
import type { RunLocalValues } from '../contract/run-local';
import { activityFailure } from './failures';
import { LiveCall } from './health/live-call';
import type { Again } from './limits/patience';
import { Patience } from './limits/patience';
import type { Caller } from './limits/turns';
import type { CallFields } from './news';
import type { WorkerParts } from './parts';

const longestInPlace = 20_000;

export class ActivityCall<Input extends Pick<CallToolInput, 'path' | 'runLocal' | 'hidden'>> {
  readonly workflowId: string;
  readonly address: string;
  protected readonly runId: string;
  protected readonly agent: string;
  protected readonly signal: AbortSignal;
  protected readonly timeoutMs: number;
  protected readonly live: LiveCall | undefined;
  protected readonly patience: Patience;
  protected readonly context = Context.current();

  constructor(
    protected readonly parts: WorkerParts,
    protected readonly input: Input,
    { attempts, patienceMs }: Pick<ModelFacts, 'attempts'> & Partial<ModelFacts>,
  ) {
    const { info, cancellationSignal } = this.context;
    if (info.workflowExecution === undefined)
      throw activityFailure('internal', 'This activity runs only inside of an agent run.', { retryable: false });
    this.workflowId = info.workflowExecution.workflowId;
    // A decoded id is a rope of many strings, which each key of the message cache would hold.
    this.runId = Buffer.from(info.workflowExecution.runId).toString();
    this.address = info.activityId;
    this.agent = agentOfPath(input.path);
    this.signal = cancellationSignal;
    this.timeoutMs = info.startToCloseTimeoutMs;
    const origin = { agent: this.agent, runPath: input.path, address: this.address, attempt: info.attempt };
    this.live = input.hidden === true ? undefined : new LiveCall(parts.deltas, this.runId, origin);
    this.patience = new Patience(info, attempts, patienceMs);
  }

  protected get fields(): CallFields {
    const { workflowId, agent, address, patience } = this;
    return { run: runIdOf(workflowId), agent, address, attempt: patience.attempt };
  }

  /** The call may wait in place for a tenth of its own time. */
  protected caller(mayLeave: boolean): Caller {
    const { workflowId: run, runId, address, signal, timeoutMs } = this;
    const since = this.context.info.scheduledTimestampMs;
    return { id: `${runId}/${address}`, run, since, inPlaceMs: Math.min(longestInPlace, timeoutMs / 10), signal, mayLeave };
  }

  protected runLocal(): Promise<RunLocalValues> {
    return this.parts.messages.values.resolve(this.workflowId, this.runId, this.address, this.input.runLocal);
  }

  /** Later calls of the run find message and change in memory. */
  protected remember(message: StoredMessage | undefined, change: CallChange | undefined): void {
    const { messages } = this.parts;
    if (message !== undefined) messages.putMessage(this.runId, message);
    messages.values.learn(this.runId, change);
  }

  /** The next attempt reads its earlier waits in the last heartbeat. */
  protected putOff({ waitMs, waits }: Extract<Again, { waitMs: number }>, code: string, message: string): Error {
    this.context.heartbeat(waits);
    // Logs and metrics count no wait for a turn as a failure.
    return activityFailure(code, message, { retryable: true, retryAfterMs: waitMs, benign: code === 'waiting-for-turn' });
  }
}
