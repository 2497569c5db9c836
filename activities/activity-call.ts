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

/** A call of a model or a tool, as the server hands the call to this worker: which attempt it is, and what the worker remembers of the call. */
export class ActivityCall {
  readonly workflowId: string;
  readonly runId: string;
  readonly address: string;
  readonly agent: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Absent: nobody is to see the call. */
  readonly live: LiveCall | undefined;
  readonly patience: Patience;
  private readonly context = Context.current();

  constructor(
    private readonly parts: WorkerParts,
    private readonly input: Pick<CallToolInput, 'path' | 'runLocal' | 'hidden'>,
    { attempts, patienceMs }: Pick<ModelFacts, 'attempts'> & Partial<ModelFacts>,
  ) {
    const { info, cancellationSignal } = this.context;
    if (info.workflowExecution === undefined)
      throw activityFailure('internal', 'This activity runs only inside of an agent run.', { retryable: false });
    this.workflowId = info.workflowExecution.workflowId;
    this.runId = info.workflowExecution.runId;
    this.address = info.activityId;
    this.agent = agentOfPath(input.path);
    this.signal = cancellationSignal;
    this.timeoutMs = info.startToCloseTimeoutMs;
    const origin = { agent: this.agent, runPath: input.path, address: this.address, attempt: info.attempt };
    this.live = input.hidden === true ? undefined : new LiveCall(parts.deltas, this.runId, origin);
    this.patience = new Patience(info, attempts, patienceMs);
  }

  /** What the log says of the call. */
  get fields(): CallFields {
    const { workflowId, agent, address, patience } = this;
    return { run: runIdOf(workflowId), agent, address, attempt: patience.attempt };
  }

  /** Who asks for a turn. The time in which the call waits in place is little of what it may take itself. */
  caller(mayLeave: boolean): Caller {
    const { workflowId: run, runId, address, signal, timeoutMs } = this;
    const since = this.context.info.scheduledTimestampMs;
    return { id: `${runId}/${address}`, run, since, inPlaceMs: Math.min(longestInPlace, timeoutMs / 10), signal, mayLeave };
  }

  runLocal(): Promise<RunLocalValues> {
    return this.parts.messages.values.resolve(this.workflowId, this.runId, this.address, this.input.runLocal);
  }

  /** The result is on its way into the history. Later calls find its message here. */
  settle(message: StoredMessage | undefined): void {
    if (message !== undefined) this.parts.messages.putMessage(this.runId, message);
    this.live?.settle();
  }

  /** Later calls find here what this one changed. */
  learn(change: CallChange | undefined): void {
    this.parts.messages.values.learn(this.runId, change);
  }

  /** What lets the server make the call again. The next attempt reads what this one waited for in the last heartbeat. */
  putOff({ waitMs, waits }: Extract<Again, { waitMs: number }>, code: string, message: string): Error {
    this.context.heartbeat(waits);
    // To wait for a turn is no failure that a log or a metric has to tell.
    return activityFailure(code, message, { retryable: true, retryAfterMs: waitMs, benign: code === 'waiting-for-turn' });
  }
}
