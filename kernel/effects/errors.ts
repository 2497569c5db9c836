import { HoldfastError, codeOf, messageOf, thrownCodeOf } from '../../contract/errors';
import { limits } from '../../contract/limits';
import type { Failure } from '../../contract/messages/messages';
import { withSandboxHint } from '../../contract/sandbox-lacks';
import { notJson } from '../../contract/messages/messages';

/**
 * Ends the run on purpose, from any callback or tool, with the code `stopped`. Parallel calls are cancelled. Options and custom values
 * cannot suppress a stop.
 * @example
 * export const thrifty: AgentMiddleware = {
 *   name: 'thrifty',
 *   afterToolCalls(_state, ctx) {
 *     if (ctx.usage.outputTokens > 10_000) throw new StopError('The budget of this run is used up.');
 *   },
 * };
 */
export class StopError extends HoldfastError {
  constructor(message: string) {
    super('stopped', message);
  }
}

/** The class is lost after a continue-as-new and in another realm, and foreign errors may have the code `stopped`. */
export function isStop(error: unknown): boolean {
  return codeOf(error) === 'stopped' && (error as { readonly name?: unknown }).name === 'HoldfastError';
}

export function isCancellation(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { name, code, cause } = error as { name?: unknown; code?: unknown; cause?: unknown };
  return code === 'cancelled' || name === 'CancelledFailure' || (name === 'ActivityFailure' && isCancellation(cause));
}

export function labelOf(hook: string, middleware: string): string {
  return `${hook} of middleware "${middleware}"`;
}

/** Names the hook that threw. Errors with a code and cancellations pass as the same object. */
export function blame(error: unknown, label: string): unknown {
  if (isCancellation(error) || thrownCodeOf(error) !== undefined) return error;
  // No cause, because code that is re-entered after a continue-as-new gets none either.
  const failure = new HoldfastError('hook-failed', `${label} failed: ${withSandboxHint(messageOf(error)).slice(0, limits.errorMessage)}`);
  const { stack } = (typeof error === 'object' && error !== null ? error : {}) as { stack?: unknown };
  if (typeof stack === 'string') failure.stack = stack;
  return failure;
}

export function failureOf(error: unknown): Failure {
  return { code: thrownCodeOf(error) ?? 'run-failed', message: messageOf(error).slice(0, limits.errorMessage) };
}

export type RecordedFailure = Failure & { readonly details?: unknown };

export function errorOf(failure: RecordedFailure): HoldfastError {
  const { details } = failure;
  return new HoldfastError(codeOf(failure) ?? 'run-failed', failure.message, details === undefined ? {} : { details });
}

export function recordedFailure(error: unknown): RecordedFailure {
  const { details } = (thrownCodeOf(error) === undefined ? {} : error) as { details?: unknown };
  return details === undefined || notJson(details) !== undefined ? failureOf(error) : { ...failureOf(error), details };
}

/** Layers may catch the error; uncaught, the error goes back to the model or ends the run. */
export class ToolError extends HoldfastError {
  /** Lost at a continue-as-new. */
  readonly #messageId: string | undefined;

  constructor(failure: Failure, messageId: string | undefined) {
    super(failure.code as HoldfastError['code'], failure.message);
    this.#messageId = messageId;
  }

  static messageIdOf(error: unknown): string | undefined {
    return error instanceof ToolError ? error.#messageId : undefined;
  }
}

export const toolProblemCodes: readonly string[] = [
  'tool-failed',
  'tool-timeout',
  'tool-input-invalid',
  'tool-not-found',
  'tool-result-too-large',
  'tool-result-invalid',
  'value-not-json',
  'callback-failed',
  'child-cancelled',
  'answer-stale',
];

/**
 * Whether an error of a tool call goes back to the model by default.
 * @example
 * export const patient: AgentMiddleware = {
 *   name: 'patient',
 *   wrapToolCall: (call, next) =>
 *     next(call).catch((error: unknown) => {
 *       if (!isToolProblem(error)) throw error;
 *       return 'The tool is away. Go on without it.';
 *     }),
 * };
 */
export function isToolProblem(error: unknown): boolean {
  return toolProblemCodes.includes(codeOf(error) ?? '');
}
