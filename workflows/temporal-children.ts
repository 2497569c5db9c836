import type { CancelRequest } from '../contract/cancel';
import { isRecord } from '../contract/check';
import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  ChildWorkflowCancellationType,
  ChildWorkflowFailure,
  ParentClosePolicy,
  TerminatedFailure,
  TimeoutFailure,
  executeChild,
  getExternalWorkflowHandle,
  isCancellation,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { HoldfastError, codeOf, isErrorCode, messageOf } from '../contract/errors';
import type { Answer } from '../contract/interrupts';
import { limits } from '../contract/limits';
import type { Failure, JsonObject } from '../contract/messages/messages';
import { names, workflowIdOf } from '../contract/names';
import { retriedSnapshot } from '../contract/record/retry';
import type { AgentRunInput, AgentRunResult, KeptPoint, StartInput } from '../contract/record/wire';
import type { ChildUsage } from '../contract/usage';
import { isTokenCount } from '../contract/usage';
import { childEndOf } from '../kernel/engine/run-result';
import type { ChildEnd, ChildRun, KeptAtFailure } from '../kernel/run/ports';
import type { AskForCommand } from './ports-owner';

export interface FailedChildDetails {
  readonly usage?: ChildUsage;
  readonly session?: JsonObject;
  readonly news?: AgentRunResult['news'];
  readonly kept?: KeptAtFailure;
}

/** A continue-as-new would cancel children, so a run with open agents does not continue as new. */
export class TemporalChildren {
  private readonly open = new Map<string, ChildRun>();
  private readonly answering = new Map<string, Promise<void>>();
  /** Of cancelled agents, by id. */
  private readonly left = new Map<string, FailedChildDetails>();

  constructor(
    private readonly parent: StartInput,
    private readonly askFor: AskForCommand,
  ) {}

  get size(): number {
    return this.open.size;
  }

  idOf({ start: { tenant, id } }: ChildRun): string {
    return workflowIdOf(tenant, id);
  }

  /** Without search attributes, because lists show only started runs. */
  async run(child: ChildRun, kept: KeptPoint | null, hasRoom: () => boolean): Promise<ChildEnd> {
    const { start } = child;
    let hasBegun = false;
    const begin = (): Promise<AgentRunResult> => {
      hasBegun = true;
      return executeChild<(input: AgentRunInput) => Promise<AgentRunResult>>(names.workflow, {
        workflowId: workflowIdOf(start.tenant, start.id),
        ...goingOn(kept, { start: this.parent.externalStorage === true ? { ...start, externalStorage: true } : start }),
        parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
        cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
      });
    };
    this.open.set(start.id, child);
    CancellationScope.current().cancelRequested.catch(() => hasBegun && this.cancelLatest(start));
    try {
      const result = await this.askFor(child.place, () => (hasRoom() ? begin() : undefined));
      if (Array.isArray(result.news)) child.hear(result.news, true);
      return childEndOf(result);
    } catch (error) {
      // A resumed run starts the agent.
      if (!hasBegun && isCancellation(error)) throw error;
      const { news, ...end } = endOfFailed(error);
      if (Array.isArray(news)) child.hear(news, true);
      return isCancelledChild(end) ? { ...this.left.get(start.id), ...end } : end;
    } finally {
      this.open.delete(start.id);
      this.left.delete(start.id);
    }
  }

  ask(request: CancelRequest, run?: string): void {
    for (const { start } of this.open.values()) {
      if (run !== undefined && run !== start.id) continue;
      this.signal(start, names.cancelSignal, request).catch(() => undefined);
    }
  }

  /** The cancel of a child workflow goes only to its first execution, so it is lost after a continue-as-new. */
  private cancelLatest({ tenant, id }: StartInput): void {
    if (!this.open.has(id)) return;
    const cancel = (): Promise<void> => getExternalWorkflowHandle(workflowIdOf(tenant, id)).cancel();
    CancellationScope.nonCancellable(() => this.askFor(id, cancel)).catch(() => undefined);
  }

  hear(news: unknown): void {
    const { run, events, left } = (news ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof run !== 'string' || !this.open.has(run)) return;
    if (Array.isArray(events)) this.open.get(run)?.hear(events as readonly unknown[]);
    const details = left === undefined ? undefined : detailsIn(left);
    if (details !== undefined) this.left.set(run, details);
  }

  answer(run: string, answer: Answer): void {
    const before = this.answering.get(run);
    const sending = before !== undefined ? before.then(() => this.send(run, answer)) : this.send(run, answer);
    const settled = sending.then(() => {
      if (this.answering.get(run) === settled) this.answering.delete(run);
    });
    this.answering.set(run, settled);
  }

  private async send(run: string, answer: Answer): Promise<void> {
    const child = this.open.get(run);
    if (child === undefined) return;
    await this.signal(child.start, names.answerSignal, answer).catch(() => undefined);
  }

  private signal({ tenant, id }: StartInput, name: string, content: unknown): Promise<void> {
    return this.askFor(id, () => getExternalWorkflowHandle(workflowIdOf(tenant, id)).signal(name, content));
  }
}

/**
 * An isolated agent that was cancelled with the run or failed in it goes on where it stood, or fails, because a new beginning could repeat
 * `once` calls.
 */
function goingOn(
  kept: KeptPoint | null,
  input: AgentRunInput,
): { readonly args: [AgentRunInput]; readonly memo?: Record<string, unknown> } {
  if (kept === null) return { args: [input] };
  const { point } = kept;
  if ('refused' in point)
    throw new HoldfastError(isErrorCode(point.refused.code) ? point.refused.code : 'resume-impossible', point.refused.message);
  if (point.snapshot === undefined) return { args: [input] };
  return {
    args: [{ ...input, snapshot: retriedSnapshot(point.snapshot, {}, kept.failed === true ? 'run-retry' : 'run-resume') }],
    memo: { [names.memo.retryOf]: kept.runId },
  };
}

function isCancelledChild(end: ChildEnd): boolean {
  return 'failed' in end && end.failed.code === 'child-cancelled';
}

/** Any client of the server can send such news. */
function detailsIn(left: unknown): FailedChildDetails | undefined {
  if (!isRecord(left) || !isRecord(left['usage'])) return undefined;
  const { usage, session } = left;
  const { byModel, ...counts } = usage;
  if (!isUsage(counts) || !(typeof byModel === 'string' || (isRecord(byModel) && Object.values(byModel).every(isUsage)))) return undefined;
  const values = isRecord(session) ? Object.entries(session).filter(([key]) => key !== '__proto__') : [];
  return {
    usage: usage as unknown as ChildUsage,
    ...(values.length === 0 ? {} : { session: Object.fromEntries(values) as JsonObject }),
  };
}

function isUsage(value: unknown): boolean {
  return (
    isRecord(value) && isTokenCount(value['inputTokens']) && isTokenCount(value['outputTokens']) && Object.values(value).every(isTokenCount)
  );
}

export function endOfFailed(error: unknown): FailedChildDetails & Extract<ChildEnd, { readonly failed: Failure }> {
  const cause = error instanceof ChildWorkflowFailure ? (error.cause ?? error) : error;
  if (cause instanceof CancelledFailure) return failed('child-cancelled', 'Its run was cancelled.');
  if (cause instanceof TimeoutFailure) return failed('run-timed-out', 'The deadline of its run has passed.');
  if (cause instanceof TerminatedFailure) return failed('run-terminated', 'Its run was terminated.');
  if (cause instanceof WorkflowExecutionAlreadyStartedError)
    return failed('run-id-in-use', `There is a run "${cause.workflowId}" already that is not part of this one.`);
  const code = cause instanceof ApplicationFailure && isErrorCode(cause.type) ? cause.type : (codeOf(cause) ?? 'run-failed');
  const details = (cause instanceof ApplicationFailure ? cause.details?.[0] : undefined) as FailedChildDetails | undefined;
  return { ...details, ...failed(code === 'cancelled' ? 'child-cancelled' : code, messageOf(cause)) };
}

function failed(code: string, message: string): { readonly failed: { readonly code: string; readonly message: string } } {
  return { failed: { code, message: message.slice(0, limits.errorMessage) } };
}
