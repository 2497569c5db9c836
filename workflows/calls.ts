import {
  ActivityCancellationType,
  ActivityFailure,
  CancellationScope,
  CancelledFailure,
  scheduleActivity,
  workflowInfo,
} from '@temporalio/workflow';
import type { ActivityOptions } from '@temporalio/workflow';
import type { ModelFacts, ToolFacts } from '../contract/manifest';
import type { CallModelResult, CallToolResult } from '../contract/record/wire';
import { isCancellation } from '../kernel/effects/errors';
import type { RunLog } from '../kernel/log/run-log';
import type { OnceCalls } from '../kernel/run/once-calls';
import type { ModelCall, ToolCallRequest } from '../kernel/run/ports';
import { lostModelActivity, lostToolActivity } from './activity-failures';
import type { ModelStops } from './model-stops';
import type { AskForCommand } from './ports-owner';

interface CallingRun {
  readonly cancelled: boolean;
  readonly onceCalls: OnceCalls;
  /** Settles when a call may start. Undefined: now. */
  held(): Promise<void> | undefined;
  refuseWhenCancelled(): void;
  counted<T>(call: Promise<T>): Promise<T>;
}

export class Calls {
  /** The task of the last call, as a length of the history. */
  madeAt = 0;

  constructor(
    private readonly run: CallingRun,
    private readonly log: RunLog,
    private readonly ask: AskForCommand,
    private readonly stops: ModelStops | undefined,
  ) {}

  async model(call: ModelCall): Promise<CallModelResult> {
    await this.run.held();
    this.run.refuseWhenCancelled();
    const { address } = call;
    const made = (): Promise<CallModelResult> => this.repeated(this.activity('callModel', call, () => this.log.modelStep(call)));
    try {
      const result = await this.run.counted(this.stops === undefined ? made() : this.stops.run(call.path, made));
      this.log.modelCameBack(call, result);
      return result;
    } catch (error) {
      if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
      return { address, failed: lostModelActivity(error) };
    }
  }

  async tool(call: ToolCallRequest): Promise<CallToolResult> {
    const { run } = this;
    await run.held();
    // A cancelled run still asks about a cut-off call, and ends with the answer.
    if (call.reconcile === true && run.cancelled) return CancellationScope.nonCancellable(() => this.toolActivity(call, true));
    return this.toolActivity(call, false);
  }

  private async toolActivity(call: ToolCallRequest, inSpite: boolean): Promise<CallToolResult> {
    const { run, log } = this;
    const { address, facts } = call;
    if (!inSpite) run.refuseWhenCancelled();
    const tried = facts.effect === 'once' && call.reconcile !== true ? { ...facts, attempts: 1 } : facts;
    try {
      const asked = this.activity<CallToolResult>('callTool', { address, facts: tried }, () => log.toolStep(call), inSpite);
      // A cut-off `once` call is in doubt even if the run is cancelled.
      const made = run.counted(facts.effect === 'once' && call.reconcile !== true ? asked : this.repeated(asked));
      const result = await (facts.effect === 'once' || inSpite ? run.onceCalls.counted(made) : made);
      log.toolCameBack(call, result);
      return result;
    } catch (error) {
      if (!(error instanceof ActivityFailure) || (isCancellation(error) && !inSpite)) throw error;
      return { address, outcome: lostToolActivity(call, error) };
    }
  }

  /** The server does not repeat a cancelled call whose worker was lost, so such a call ends with the failure of its last attempt. */
  private async repeated<Result>(call: Promise<Result>): Promise<Result> {
    const scope = CancellationScope.current();
    try {
      return await call;
    } catch (error) {
      throw scope.consideredCancelled && !isCancellation(error) ? new CancelledFailure('The call was cancelled.') : error;
    }
  }

  /** Undefined from `step`: no room in this task. */
  private activity<Result>(
    type: string,
    { address, facts }: { readonly address: string; readonly facts: ModelFacts | ToolFacts },
    step: () => unknown,
    inSpite = false,
  ): Promise<Result> {
    return this.ask(address, () => {
      if (!inSpite) this.run.refuseWhenCancelled();
      const input = step();
      if (input === undefined) return undefined;
      this.madeAt = workflowInfo().historyLength;
      return scheduleActivity<Result>(type, [input], activityOptions(address, facts));
    });
  }
}

/** A cancelled call may still report how far it came. */
function activityOptions(activityId: string, facts: ModelFacts | ToolFacts): ActivityOptions {
  return {
    activityId,
    startToCloseTimeout: facts.timeoutMs,
    heartbeatTimeout: facts.heartbeatMs,
    retry: {
      maximumAttempts: isCountedByWorker(facts) ? Infinity : facts.attempts,
      initialInterval: 500,
      backoffCoefficient: 2,
      maximumInterval: 30_000,
    },
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  };
}

/** The server cannot tell which attempts of a waiting call count. */
function isCountedByWorker(facts: ModelFacts | ToolFacts): boolean {
  return 'effect' in facts ? facts.concurrency !== undefined && facts.effect !== 'once' : true;
}
