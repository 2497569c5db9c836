import { randomUUID } from 'node:crypto';
import { defined } from '../contract/defined';
import { HoldfastError, messageOf, thrownCodeOf } from '../contract/errors';
import { waitsForTool } from '../contract/missing-tool';
import { messageOfOutcome } from '../contract/record/tool-outcomes';
import type { CallToolInput, CallToolResult, ToolOutcome } from '../contract/record/wire';
import type { RunLocalValues } from '../contract/run-local';
import { ActivityCall } from './activity-call';
import { inTime } from './calls/in-time';
import { activityFailure, asThrown, isCancelled, isCancelledByRun } from './failures';
import type { Begun } from './health/heartbeat';
import { withHeartbeat } from './health/heartbeat';
import type { GateTurn } from './limits/gate';
import { allTurns } from './limits/turns';
import { lostText } from './limits/patience';
import { tellOfTool } from './news';
import type { WorkerParts } from './parts';
import { cutOff, tooLate } from './tools/cut-off';
import { ToolAttempt, ToolRetry } from './tools/tool-attempt';
import type { RunAbout } from './transcripts/start-store';
import { aboutNothing } from './transcripts/start-store';

export class ToolActivity extends ActivityCall<CallToolInput> {
  private readonly attempt: ToolAttempt;
  private readonly isOnce: boolean;
  private turn: GateTurn | undefined;
  private hasRun = false;
  /** A tool that began after the result is known would run after its call was reported as unsettled. */
  private isOver = false;

  constructor(parts: WorkerParts, input: CallToolInput) {
    const facts = parts.tools.factsOf(input.tool);
    super(parts, input, { attempts: (facts ?? parts.toolDefaults).attempts });
    this.isOnce = facts?.effect === 'once';
    const { workflowId, address, signal, live, fields } = this;
    const threw = (error: unknown): void => tellOfTool(input, fields, error);
    this.attempt = new ToolAttempt(input, parts, { workflowId, address, attempt: fields.attempt, signal, publish: live?.publish, threw });
  }

  async result(): Promise<CallToolResult> {
    const { patience } = this;
    if (patience.isSpent) throw activityFailure('tool-failed', lostText(patience.attempt - 1), { retryable: false });
    try {
      return this.settle(await withHeartbeat((begun) => this.inTime(begun), patience.details).finally(() => this.end()));
    } catch (error) {
      return this.fail(error);
    }
  }

  /**
   * Undefined: the time of a `once` tool is up. A cancel does not end the wait for a `once` tool, as only the tool knows how far its work
   * came.
   */
  private inTime(begun: Begun): Promise<ToolOutcome | undefined> {
    const { attempt, context, timeoutMs } = this;
    if (this.isOnce) return inTime<ToolOutcome | undefined>(this.work(begun), timeoutMs, () => undefined);
    return Promise.race([attempt.watch.inTime(timeoutMs, () => this.work(begun)), context.cancelled]);
  }

  private async work(begun: Begun): Promise<ToolOutcome> {
    const [values, about] = await this.begin(begun);
    if (!this.isOver) this.turn = await this.limit();
    if (!this.isOver) return this.run(values, about);
    this.turn?.giveBack();
    throw new HoldfastError('cancelled', 'The call ended before its tool began.');
  }

  private async begin(begun: Begun): Promise<[RunLocalValues, RunAbout]> {
    const { workflowId, runId, input, parts } = this;
    const values = await this.runLocal();
    begun(this.isOnce);
    return [values, input.about === true ? await parts.messages.starts.of(workflowId, runId) : aboutNothing];
  }

  private async limit(): Promise<GateTurn | undefined> {
    const { workflowId, input, parts } = this;
    const { tool, mcp, reconcile } = input;
    if (reconcile === true) return undefined;
    const concurrency = parts.tools.factsOf(tool)?.concurrency;
    const caller = this.caller(this.patience.counts || this.isOnce);
    return allTurns([
      ...(mcp === undefined ? [] : [async () => parts.mcp?.turn(mcp, workflowId, caller)]),
      ...(concurrency === undefined ? [] : [async () => parts.turns?.ofTool(tool, concurrency, caller)]),
    ]);
  }

  private run(values: RunLocalValues, about: RunAbout): Promise<ToolOutcome> {
    const { workflowId, address, input, parts } = this;
    this.hasRun = input.reconcile !== true;
    const run = (): Promise<ToolOutcome> => this.attempt.run(values, about);
    return parts.loop?.during({ tool: input.tool, workflowId, address }, run) ?? run();
  }

  private end(): void {
    this.isOver = true;
    this.turn?.end();
  }

  private settle(outcome: ToolOutcome | undefined): CallToolResult {
    const result = outcome === undefined ? this.late() : this.attempt.result(outcome);
    this.live?.settle();
    this.remember(messageOfOutcome(this.input, result), result.runLocal);
    return result;
  }

  /** Chance decides whether this timer or the server's fires first, so values and events are dropped as the server would. */
  private late(): CallToolResult {
    this.attempt.drop();
    return { address: this.address, outcome: tooLate(this.input, this.timeoutMs) };
  }

  private fail(error: unknown): CallToolResult {
    const { address, signal, isOnce } = this;
    this.live?.void();
    this.attempt.drop();
    if (isCancelled(error, signal)) {
      if (isOnce && this.hasRun && isCancelledByRun(signal)) return { address, outcome: cutOff(error) };
      throw asThrown(error);
    }
    const code = error instanceof ToolRetry ? 'tool-failed' : (thrownCodeOf(error) ?? 'tool-failed');
    // The server does not repeat calls of `once` tools, so the run itself waits for a turn.
    if (code === 'waiting-for-turn' && isOnce)
      return { address, outcome: { type: 'failed', messageId: randomUUID(), error: { code, message: messageOf(error) } } };
    throw this.again(code, error);
  }

  /** The failure lets the server repeat the call. */
  private again(code: string, error: unknown): Error {
    const { patience } = this;
    const message = messageOf(error);
    const retryAfterMs = code === 'tool-unknown' ? (waitsForTool[patience.attempt - 1] ?? waitsForTool.at(-1)) : undefined;
    if (!patience.counts) return activityFailure(code, message, { retryable: true, ...defined({ retryAfterMs }) });
    const { details } = error as { details?: { retryAfterMs?: number } };
    const again = patience.after(
      code === 'waiting-for-turn' ? { waitsFor: 'turn', ...defined({ retryAfterMs: details?.retryAfterMs }) } : defined({ retryAfterMs }),
    );
    return 'over' in again ? activityFailure(code, message, { retryable: false }) : this.putOff(again, code, message);
  }
}
