import { randomUUID } from 'node:crypto';
import { WorkflowNotFoundError, WorkflowUpdateFailedError, WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import { z } from 'zod';
import { parseDuration } from '../contract/plain/duration';
import { HoldfastError, isErrorCode, messageOf } from '../contract/plain/errors';
import type { RunEvent, RunView } from '../contract/plain/events';
import type { Answer, ApprovalDecision, Interrupt } from '../contract/plain/interrupts';
import { misfitOf } from '../contract/plain/interrupts';
import { jsonSize, limits } from '../contract/plain/limits';
import type { Failure, Json, StoredMessage, Usage } from '../contract/plain/messages';
import { notJson } from '../contract/plain/messages';
import { names, workflowIdOf } from '../contract/plain/names';
import type { ResumeReceipt } from '../contract/plain/wire';
import type { RunReader } from './run-reader';

export type Outcome<Output> =
  | { readonly status: 'completed'; readonly output: Output; readonly text: string }
  | { readonly status: 'waiting'; readonly interrupts: readonly Interrupt[] }
  | { readonly status: 'failed'; readonly error: Failure }
  | { readonly status: 'stuck'; readonly error: Failure }
  | { readonly status: 'cancelled' }
  | { readonly status: 'running' };

export interface AnswerOptions {
  /** Who answers. */
  readonly by?: string;
  /** The hash of the arguments that were shown; other arguments are refused. */
  readonly inputHash?: string;
}

/** How long an answer waits for a worker before it is left as a signal. */
const updateTimeoutMs = 5000;

/** A run, by its id. Reading it needs no worker. */
export class Run<Output = unknown> {
  private readonly workflowId: string;

  constructor(
    private readonly reader: RunReader,
    tenant: string,
    readonly id: string,
    /** Whether `start` made this run, rather than finding it. */
    readonly isNew: boolean,
  ) {
    this.workflowId = workflowIdOf(tenant, id);
  }

  /** The durable log, from an offset on, each event once and in order, over crashes and continue-as-new. */
  events(options: { from?: number; until?: 'end' | 'waiting'; signal?: AbortSignal } = {}): AsyncGenerator<RunEvent> {
    return this.reader.events(this.workflowId, this.id, options);
  }

  /** What the record of the run says now. */
  view(): Promise<RunView> {
    return this.reader.view(this.workflowId, this.id);
  }

  async transcript(): Promise<readonly StoredMessage[]> {
    return (await this.view()).messages;
  }

  async usage(): Promise<Usage> {
    return (await this.view()).usage;
  }

  async interrupts(): Promise<readonly Interrupt[]> {
    return (await this.view()).interrupts;
  }

  /** How the run stands once it no longer works: it has ended, waits for somebody or is stuck; or after the timeout. */
  async outcome(options: { timeout?: string } = {}): Promise<Outcome<Output>> {
    const signal = options.timeout === undefined ? undefined : AbortSignal.timeout(milliseconds(options.timeout));
    const events = this.events({ until: 'waiting', ...(signal === undefined ? {} : { signal }) });
    while ((await events.next()).done !== true);
    return outcomeOf(await this.view()) as Outcome<Output>;
  }

  async resume(interruptId: string, answer: Json, options: AnswerOptions = {}): Promise<void> {
    const problem = notJson(answer);
    if (problem !== undefined) throw new HoldfastError('answer-invalid', `The answer is not JSON: ${problem}.`);
    if (jsonSize(answer) > limits.runInput) throw new HoldfastError('answer-invalid', `The answer has ${jsonSize(answer)} bytes; at most ${limits.runInput} fit.`);
    await this.checkSchema(interruptId, answer);
    await this.deliver({ interruptId, answer, ...options });
  }

  approve(interruptId: string, options: AnswerOptions & { editedInput?: Json; forRestOfRun?: boolean } = {}): Promise<void> {
    const { editedInput, forRestOfRun, ...who } = options;
    const decision: ApprovalDecision = {
      type: 'approve',
      ...(editedInput === undefined ? {} : { editedInput }),
      ...(forRestOfRun === undefined ? {} : { forRestOfRun }),
    };
    return this.resume(interruptId, decision as unknown as Json, who);
  }

  reject(interruptId: string, feedback?: string, options: AnswerOptions = {}): Promise<void> {
    const decision: ApprovalDecision = feedback === undefined ? { type: 'reject' } : { type: 'reject', feedback };
    return this.resume(interruptId, decision as unknown as Json, options);
  }

  /** Asks the run to stop now. What ran is told by its signal; the run ends as cancelled. */
  async cancel(): Promise<void> {
    try {
      await this.reader.handle(this.workflowId).cancel();
    } catch (error) {
      throw await this.explained(error);
    }
  }

  /** Answers have the shape that the interrupt asks for, where it says one. */
  private async checkSchema(interruptId: string, answer: Json): Promise<void> {
    const interrupt = (await this.view()).interrupts.find(({ id }) => id === interruptId);
    if (interrupt === undefined) return;
    const misfit = misfitOf(interrupt, answer) ?? schemaMisfit(interrupt, answer);
    if (misfit !== undefined) throw new HoldfastError('answer-invalid', `The answer to "${interruptId}" does not fit: ${misfit}.`);
  }

  /** The update is checked before it is taken. With no worker alive the answer waits as a signal, and a wrong one is ignored. */
  private async deliver(answer: Answer): Promise<void> {
    const handle = this.reader.handle(this.workflowId);
    try {
      await this.reader.withDeadline(Date.now() + updateTimeoutMs, () =>
        handle.executeUpdate<ResumeReceipt, [Answer]>(names.resumeUpdate, { args: [answer], updateId: `${answer.interruptId}:${randomUUID()}` }),
      );
    } catch (error) {
      if (error instanceof WorkflowUpdateFailedError) throw refusedAnswer(error);
      if (!isTimeout(error)) throw await this.explained(error);
      const view = await this.view();
      if (!view.interrupts.some(({ id }) => id === answer.interruptId)) {
        throw new HoldfastError('interrupt-unknown', `This run waits for no interrupt "${answer.interruptId}".`);
      }
      await handle.signal(names.resumeSignal, answer);
    }
  }

  private async explained(error: unknown): Promise<unknown> {
    if (!(error instanceof WorkflowNotFoundError) && !/already completed/i.test(messageOf(error))) return error;
    const { status } = await this.view();
    return new HoldfastError('run-ended', `The run "${this.id}" has ended (${status}).`, { cause: error });
  }
}

export function outcomeOf(view: RunView): Outcome<unknown> {
  const { status, error } = view;
  switch (status) {
    case 'completed':
      return { status, output: view.output ?? null, text: view.text ?? '' };
    case 'waiting':
      return { status, interrupts: view.interrupts };
    case 'failed':
    case 'stuck':
      return { status, error: error ?? { code: 'run-failed', message: 'The run failed.' } };
    default:
      return { status };
  }
}

function schemaMisfit(interrupt: Interrupt, answer: Json): string | undefined {
  if (interrupt.kind === 'approval' || interrupt.answerSchema === undefined) return undefined;
  const parsed = z.fromJSONSchema(interrupt.answerSchema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(answer);
  return parsed.success ? undefined : parsed.error.issues.map((issue) => `${issue.path.join('.') || 'answer'}: ${issue.message}`).join('; ');
}

function refusedAnswer(error: WorkflowUpdateFailedError): HoldfastError {
  const { type, message } = (error.cause ?? {}) as { type?: unknown; message?: string };
  return new HoldfastError(isErrorCode(type) ? type : 'answer-invalid', message ?? 'The run refused the answer.', { cause: error });
}

function isTimeout(error: unknown): boolean {
  return error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || (error as { code?: unknown }).code === 4 || /deadline/i.test(messageOf(error));
}

function milliseconds(duration: string): number {
  const parsed = parseDuration(duration);
  if (parsed === undefined) throw new HoldfastError('request-invalid', `"${duration}" is no duration; write for example "30s".`);
  return parsed;
}
