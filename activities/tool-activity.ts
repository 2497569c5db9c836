import { randomUUID } from 'node:crypto';
import { defined } from '../contract/defined';
import { HoldfastError, messageOf, thrownCodeOf } from '../contract/errors';
import { waitsForTool } from '../contract/missing-tool';
import { messageOfOutcome } from '../contract/record/tool-outcomes';
import type { CallToolInput, CallToolResult, ToolOutcome } from '../contract/record/wire';
import type { RunLocalValues } from '../contract/run-local';
import { ActivityCall } from './activity-call';
import { activityFailure, asThrown, isCancelled, isCancelledByRun } from './failures';
import type { Begun } from './health/heartbeat';
import { orCancelled, orTimedOut, withHeartbeat } from './health/heartbeat';
import type { GateTurn } from './limits/gate';
import { lostText } from './limits/patience';
import { tellOfTool } from './news';
import type { WorkerParts } from './parts';
import { cutOff, tooLate } from './tools/cut-off';
import { ToolAttempt, ToolRetry } from './tools/tool-attempt';
import type { RunAbout } from './transcripts/start-store';
import { aboutNothing } from './transcripts/start-store';

/** One activity of a call of a tool: begin, limit, run, settle. */
export class ToolActivity {
  private readonly call: ActivityCall;
  private readonly attempt: ToolAttempt;
  private readonly isOnce: boolean;
  /** What the call holds of a tool that is limited. */
  private turn: GateTurn | undefined;
  /** The result of the call is known. A tool that began now would run after its call was reported as unsettled. */
  private isOver = false;

  constructor(
    private readonly parts: WorkerParts,
    private readonly input: CallToolInput,
  ) {
    const facts = parts.tools.factsOf(input.tool);
    const call = new ActivityCall(parts, input, { attempts: (facts ?? parts.toolDefaults).attempts });
    const { workflowId, address, signal, patience, live, fields } = call;
    this.call = call;
    this.isOnce = facts?.effect === 'once';
    this.attempt = new ToolAttempt(input, parts, {
      workflowId,
      address,
      attempt: patience.attempt,
      signal,
      publish: live?.publish,
      threw: (error) => tellOfTool(input, fields, error),
    });
  }

  async result(): Promise<CallToolResult> {
    const { patience } = this.call;
    if (patience.isSpent) throw activityFailure('tool-failed', lostText(patience.attempt - 1), { retryable: false });
    try {
      return this.settle(await withHeartbeat((begun) => this.inTime(begun), patience.details).finally(() => this.end()));
    } catch (error) {
      return this.fail(error);
    }
  }

  /** Undefined: the time of a `once` tool is up. Nobody cancels the wait for such a tool: only the tool knows how far it came. */
  private inTime(begun: Begun): Promise<ToolOutcome | undefined> {
    if (this.isOnce) return orTimedOut(this.work(begun));
    return orCancelled(this.attempt.watch.inTime(this.call.timeoutMs, () => this.work(begun)));
  }

  private async work(begun: Begun): Promise<ToolOutcome> {
    const [values, about] = await this.begin(begun);
    if (!this.isOver) this.turn = await this.limit();
    if (!this.isOver) return this.run(values, about);
    this.turn?.giveBack();
    throw new HoldfastError('cancelled', 'The call ended before its tool began.');
  }

  private end(): void {
    this.isOver = true;
    this.turn?.end();
  }

  /** The values of the run, and what the run was started with. */
  private async begin(begun: Begun): Promise<[RunLocalValues, RunAbout]> {
    const { runId, workflowId } = this.call;
    const values = await this.call.runLocal();
    begun(this.isOnce);
    return [values, this.input.about === true ? await this.parts.messages.starts.of(workflowId, runId) : aboutNothing];
  }

  /** A turn of a tool whose calls are limited. To ask whether a call took effect needs none. */
  private async limit(): Promise<GateTurn | undefined> {
    const { tool, reconcile } = this.input;
    const concurrency = this.parts.tools.factsOf(tool)?.concurrency;
    if (concurrency === undefined || reconcile === true) return undefined;
    return this.parts.turns?.ofTool(tool, concurrency, this.call.caller(this.call.patience.counts || this.isOnce));
  }

  private run(values: RunLocalValues, about: RunAbout): Promise<ToolOutcome> {
    const { workflowId, address } = this.call;
    const run = (): Promise<ToolOutcome> => this.attempt.run(values, about);
    return this.parts.loop?.during({ tool: this.input.tool, workflowId, address }, run) ?? run();
  }

  private settle(outcome: ToolOutcome | undefined): CallToolResult {
    const result = outcome === undefined ? this.late() : this.attempt.result(outcome);
    this.call.settle(messageOfOutcome(this.input, result));
    this.call.learn(result.runLocal);
    return result;
  }

  /** Whether the server's timer or this worker's comes first is chance, and the server's brings nothing. */
  private late(): CallToolResult {
    this.attempt.drop();
    return { address: this.call.address, outcome: tooLate(this.input, this.call.timeoutMs) };
  }

  private fail(error: unknown): CallToolResult {
    const { address, live, signal } = this.call;
    live?.void();
    this.attempt.drop();
    if (isCancelled(error, signal)) {
      // The tool was told to stop, and may have done its work before.
      const isCutOff = this.isOnce && this.input.reconcile !== true && this.attempt.hasBegun && isCancelledByRun(signal);
      if (isCutOff) return { address, outcome: cutOff(error) };
      throw asThrown(error);
    }
    const code = error instanceof ToolRetry ? 'tool-failed' : (thrownCodeOf(error) ?? 'tool-failed');
    // The run waits for a `once` tool that had no turn: the server would not make its call again.
    if (code === 'waiting-for-turn' && this.isOnce)
      return { address, outcome: { type: 'failed', messageId: randomUUID(), error: { code, message: messageOf(error) } } };
    throw this.again(code, error);
  }

  /** Lets the server make the call again, as long as there are attempts. */
  private again(code: string, error: unknown): Error {
    const { patience } = this.call;
    const message = messageOf(error);
    const retryAfterMs = code === 'tool-unknown' ? (waitsForTool[patience.attempt - 1] ?? waitsForTool.at(-1)) : undefined;
    if (!patience.counts) return activityFailure(code, message, { retryable: true, ...defined({ retryAfterMs }) });
    const { details } = error as { details?: { retryAfterMs?: number } };
    const again = patience.after(
      code === 'waiting-for-turn' ? { waitsFor: 'turn', ...defined({ retryAfterMs: details?.retryAfterMs }) } : defined({ retryAfterMs }),
    );
    return 'over' in again ? activityFailure(code, message, { retryable: false }) : this.call.putOff(again, code, message);
  }
}
