import { HoldfastError, codeOf, messageOf } from '../../contract/errors';
import type { Failure } from '../../contract/messages/messages';
import { workflowIdOf } from '../../contract/names';
import type { CallModelInput, CallModelResult, CallToolInput, CallToolResult, StartInput } from '../../contract/record/wire';
import type { RunLocalValues } from '../../contract/run-local';
import { isCancellation } from '../../kernel/effects/errors';
import type { RunLog } from '../../kernel/log/run-log';
import type { ModelCall, ToolCallRequest } from '../../kernel/run/ports';
import type { MemoryModelStops } from './model-stops';
import { asJson } from './record';
import type { MemoryWorld } from './world';

interface CallingRun {
  readonly cancellation: Promise<void>;
  cancelError(): HoldfastError | undefined;
  /** The run has ended or continued as new. */
  hasLeft(): boolean;
  pause(milliseconds: number): Promise<void>;
}

export class MemoryCalls {
  private readonly workflowId: string;

  constructor(
    private readonly start: StartInput,
    private readonly log: RunLog,
    private readonly world: MemoryWorld,
    private readonly run: CallingRun,
  ) {
    this.workflowId = workflowIdOf(start.tenant, start.id);
  }

  startModel(call: ModelCall, stop: ReturnType<MemoryModelStops['begin']>): Promise<CallModelResult> {
    if (stop.isAsked) throw new HoldfastError('cancelled', 'The call of the model was stopped.');
    const { work, record } = this.world;
    const { workflowId } = this;
    const { cancellation: cancelled } = this.run;
    const { address, path, facts } = call;
    const input = this.log.modelStep(call) as CallModelInput;
    const eventId = record.nextEventId();
    record.write({ kind: 'model-scheduled', eventId, activityId: address, input });
    // A stopped model answers at once with a partial answer or none.
    const answer = work.callModel(record.requestOf(address), {
      workflowId,
      address,
      path,
      facts,
      values: record.valuesOf(address),
      start: this.start,
      cancelled: Promise.race([cancelled, stop.asked]),
      wait: (milliseconds) => this.run.pause(milliseconds),
    });
    return this.recorded(eventId, answer);
  }

  startTool(call: ToolCallRequest): Promise<CallToolResult> {
    const { record } = this.world;
    const { address, facts } = call;
    const input = this.log.toolStep(call) as CallToolInput;
    const eventId = record.nextEventId();
    record.write({ kind: 'tool-scheduled', eventId, activityId: address, input });
    const running = this.runTool(call, input, record.valuesOf(address));
    return this.recorded(eventId, facts.effect === 'once' ? running : this.orCancelled(running));
  }

  private runTool(call: ToolCallRequest, input: CallToolInput, values: RunLocalValues): Promise<CallToolResult> {
    const { address, path, facts } = call;
    const { workflowId } = this;
    const cancelled = call.reconcile === true ? never : this.run.cancellation;
    const wait = (milliseconds: number): Promise<void> => this.run.pause(milliseconds);
    return this.world.work.callTool(asJson(input), { workflowId, address, path, facts, values, start: this.start, cancelled, wait });
  }

  orCancelled<T>(work: Promise<T>): Promise<T> {
    work.catch(() => undefined);
    return Promise.race([
      work,
      this.run.cancellation.then(() => {
        throw this.run.cancelError();
      }),
    ]);
  }

  private async recorded<T>(scheduledId: number, work: Promise<T>): Promise<T> {
    const { record } = this.world;
    try {
      const result = await work;
      if (!this.run.hasLeft()) record.write({ kind: 'activity-completed', scheduledId, result });
      return result;
    } catch (error) {
      if (!this.run.hasLeft()) record.write({ kind: 'activity-closed', scheduledId });
      throw isCancellation(error) ? error : new LostCall(error);
    }
  }
}

const never = new Promise<never>(() => undefined);

export class LostCall extends Error {
  readonly failure: Failure;

  constructor(error: unknown) {
    super(messageOf(error));
    this.failure = { code: codeOf(error) ?? 'run-failed', message: messageOf(error) };
  }
}
