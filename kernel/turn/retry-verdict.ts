import { defined } from '../../contract/defined';
import { HoldfastError, lackingCodes, messageOf, thrownCodeOf } from '../../contract/errors';
import type { EventBody } from '../../contract/events';
import { jsonSize, limits } from '../../contract/limits';
import type { Failure, Json, ModelSettings, StoredMessage } from '../../contract/messages/messages';
import { notJson, textOfJson } from '../../contract/messages/messages';
import { asked, decides } from './agent-functions';
import { frozen } from '../../contract/freeze';
import type { AttemptEnd } from '../calls/model-call';
import type { ModelRequest } from '../define/middleware';
import type { ModelError, RetryDecision, RetryOptions } from '../define/retry-options';
import type { AgentScope } from '../run/scope';
import { knownMessages, storedMessages } from '../effects/transcript';

/** Recorded in the journal, so a verdict is made once. */
type RetryVerdict =
  | { readonly do: 'accept' }
  | { readonly do: 'fail'; readonly error: ModelError }
  | {
      readonly do: 'retry';
      readonly until: number;
      readonly messages?: readonly StoredMessage[];
      readonly persist?: boolean;
      readonly settings?: ModelSettings;
    };

interface FailedAttempt {
  /** From 0. */
  readonly attempt: number;
  readonly request: ModelRequest<StoredMessage>;
  readonly end: AttemptEnd;
}

export function retryVerdict(scope: AgentScope, retry: RetryOptions, ended: FailedAttempt): RetryVerdict {
  const { run, agent } = scope;
  const { attempt, request, end } = ended;
  const { error } = end;
  if (error !== undefined && lackingCodes.some((code) => code === error.code)) return { do: 'fail', error };
  const decision = decisionOf(agent.name, retry, ended);
  if (decision?.retry !== true) {
    if (decision?.rewriteError !== undefined) return { do: 'fail', error: rewritten(decision.rewriteError) };
    return error === undefined ? { do: 'accept' } : { do: 'fail', error };
  }
  const rejectReason = checkedReason(agent.name, decision.rejectReason);
  const cause = error ?? rejection(agent.name, rejectReason);
  const tell = (last: { readonly last?: true }): void => tellRetry(scope, attempt, cause, { ...defined({ rejectReason }), ...last });
  if (attempt >= retry.maxRetries) {
    // Readers have seen the rejected answer. A failover emits its own event.
    if (error === undefined && agent.failover === undefined) tell({ last: true });
    return { do: 'fail', error: exhausted(agent.name, request.model, attempt + 1, cause) };
  }
  const changes = changesOf(scope, ended, decision);
  const wait = backoffOf(scope, retry, decision, ended);
  tell({});
  return { do: 'retry', until: run.ports.now() + wait, ...changes };
}

type ModelRetry = Extract<EventBody, { type: 'model-retry' }>;

export function tellRetry(
  { run, agent, path, record }: AgentScope,
  attempt: number,
  { code, message }: ModelError,
  more: Pick<ModelRetry, 'rejectReason' | 'failover' | 'last'>,
): void {
  const of = { agent: agent.name, runPath: path, turn: record.turn };
  run.ports.emit({ type: 'model-retry', ...of, attempt, error: { code, message }, ...more });
}

function decisionOf(agent: string, retry: RetryOptions, { attempt, request, end }: FailedAttempt): RetryDecision | undefined {
  const { error } = end;
  if (retry.shouldRetry === undefined) {
    if (error === undefined) return undefined;
    return {
      retry: retry.isRetryable === undefined || decides(`isRetryable of agent "${agent}"`, () => retry.isRetryable?.(frozen(error))),
    };
  }
  const label = `shouldRetry of agent "${agent}"`;
  const output = end.response?.message ?? end.partial;
  const decision: unknown = asked(label, () =>
    retry.shouldRetry?.(
      frozen({
        attempt: attempt + 1,
        input: request.messages,
        settings: request.settings ?? {},
        ...defined({ output, error }),
      }),
    ),
  );
  if (decision === undefined || decision === null) return undefined;
  if (typeof decision === 'object' && typeof (decision as Partial<RetryDecision>).retry === 'boolean') return decision as RetryDecision;
  throw new HoldfastError(
    'hook-failed',
    `${label} returned no decision; return nothing to accept, or at once { retry: true } or { retry: false }.`,
  );
}

function rewritten(error: Error | string): ModelError {
  return { code: thrownCodeOf(error) ?? 'model-failed', message: messageOf(error).slice(0, limits.errorMessage) };
}

function rejection(agent: string, reason: Json | undefined): Failure {
  const why = reason === undefined ? '' : `: ${textOfJson(reason)}`;
  return {
    code: 'model-response-rejected',
    message: `shouldRetry of agent "${agent}" rejected the answer${why}`.slice(0, limits.errorMessage),
  };
}

function exhausted(agent: string, model: string, calls: number, lastError: Failure): ModelError {
  const times = calls === 1 ? '1 call' : `${calls} calls`;
  const message = `Agent "${agent}" exceeds max retries: ${model} gave no answer that counts in ${times}. The last error: ${lastError.message}`;
  return { code: 'model-retries-exhausted', message: message.slice(0, limits.errorMessage), lastError };
}

function checkedReason(agent: string, reason: Json | undefined): Json | undefined {
  if (reason === undefined) return undefined;
  const problem = notJson(reason);
  if (problem !== undefined)
    throw new HoldfastError('value-not-json', `The rejectReason of shouldRetry of agent "${agent}" is not JSON: ${problem}.`);
  const bytes = jsonSize(reason);
  if (bytes > limits.progress)
    throw new HoldfastError(
      'payload-too-large',
      `The rejectReason of agent "${agent}" has ${bytes} bytes; at most ${limits.progress} fit.`,
    );
  return reason;
}

function changesOf(
  scope: AgentScope,
  { request, end }: FailedAttempt,
  { modifiedInput, persistModifiedInput, additionalSettings }: RetryDecision,
): Pick<RetryVerdict & { do: 'retry' }, 'messages' | 'persist' | 'settings'> {
  const label = `shouldRetry of agent "${scope.agent.name}"`;
  const problem = additionalSettings === undefined ? undefined : settingsProblem(additionalSettings);
  if (problem !== undefined) throw new HoldfastError('hook-failed', `${label} returned additionalSettings that are none: ${problem}.`);
  const settings = additionalSettings === undefined ? {} : { settings: additionalSettings };
  if (modifiedInput === undefined) return settings;
  const messages = storedMessages(
    modifiedInput,
    knownMessages(request.messages, end.response?.message),
    () => scope.run.ports.uuid(),
    `modifiedInput of ${label}`,
  );
  return { ...settings, messages, ...(persistModifiedInput === true ? { persist: true } : {}) };
}

function settingsProblem(settings: unknown): string | undefined {
  if (typeof settings !== 'object' || settings === null || Array.isArray(settings)) return 'they are no object';
  return notJson(settings);
}

const firstWait = 100;
const longestWait = 10_000;
const year = 365 * 24 * 3_600_000;

function backoffOf(scope: AgentScope, retry: RetryOptions, decision: RetryDecision, { attempt, end: { error } }: FailedAttempt): number {
  const of = ` of agent "${scope.agent.name}"`;
  if (decision.backoffMs !== undefined && decision.backoffMs !== 0) return checkedWait(decision.backoffMs, `backoffMs of shouldRetry${of}`);
  if (retry.backoff !== undefined)
    return checkedWait(
      asked(`backoff${of}`, () => retry.backoff?.(attempt + 1, () => scope.run.ports.random(), error)),
      `backoff${of}`,
    );
  const wait = Math.min(firstWait * 2 ** attempt, longestWait);
  const jitter = wait * 0.5 * scope.run.ports.random();
  return Math.max(Math.floor(wait + jitter), error?.retryAfterMs ?? 0);
}

function checkedWait(wait: unknown, what: string): number {
  if (typeof wait === 'number' && wait >= 0 && wait <= year) return Math.ceil(wait);
  throw new HoldfastError('hook-failed', `${what} is ${String(wait)}; it is a number of milliseconds, from 0 to a year.`);
}
