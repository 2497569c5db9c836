import { HoldfastError } from '../../contract/errors';
import type { Uncounted } from '../../contract/usage';
import { addUsage } from '../../contract/usage';
import { limits, utf8Length } from '../../contract/limits';
import type { DeferredTools, ToolSpec } from '../../contract/manifest';
import type { FinishReason, Message, ModelSettings, StoredMessage, Usage } from '../../contract/messages/messages';
import { isMessage, toolCallsOf } from '../../contract/messages/messages';
import type { ModelFailure, RetryMode, StreamMode } from '../../contract/record/wire';
import { meaningsOf } from '../run/meanings';
import type { AgentScope } from '../run/scope';
import { errorOf } from '../effects/errors';

export interface ModelCallPlan {
  readonly address: string;
  readonly path: readonly string[];
  readonly instructions: string;
  readonly messages: readonly StoredMessage[];
  readonly tools: readonly string[];
  readonly model: string;
  readonly settings: ModelSettings | undefined;
  /** Absent: whole. */
  readonly stream?: StreamMode;
  readonly output?: string | undefined;
  /** Absent: the server makes a failed call again. */
  readonly retries?: RetryMode | undefined;
  /** Tools whose arguments layers will see. */
  readonly parse?: readonly string[] | undefined;
  readonly specs?: readonly ToolSpec[] | undefined;
  readonly deferred?: DeferredTools | undefined;
  readonly final?: string | undefined;
  /** Tools that the model is told about. */
  readonly catalog?: readonly string[] | undefined;
}

export interface StoredResponse {
  readonly message: StoredMessage;
  readonly usage?: Usage;
  readonly uncounted?: readonly Uncounted[];
  readonly finish?: FinishReason;
  readonly model: string;
}

/** One model activity: checks that the answer is the one asked for, and counts its tokens. */
export async function callModelOnce(scope: AgentScope, plan: ModelCallPlan): Promise<StoredResponse> {
  const { run, agent, record } = scope;
  const size = utf8Length(plan.instructions);
  if (size > limits.payload / 2)
    throw new HoldfastError('payload-too-large', `The instructions of agent "${agent.name}" have ${size} bytes.`);
  const runLocal = run.runLocal.toSend(scope.path, plan.address, undefined, false);
  const result = await run.ports.callModel({
    ...plan,
    ...(runLocal === undefined ? {} : { runLocal }),
    turn: record.turn,
    facts: run.manifest.defaults.model,
    halves: agent.halves,
    stream: plan.stream ?? 'whole',
    output: plan.output,
  });
  if (result.address !== plan.address)
    throw new HoldfastError('internal', `The model call ${plan.address} got the answer of ${result.address}.`);
  if (result.usage !== undefined) run.state.usage = addUsage(run.state.usage, result.usage);
  run.runLocal.take(scope.path, result);
  if (result.failed !== undefined) throw failedCall(result.failed, result.partial);
  if (!isMessage(result.message))
    throw new HoldfastError('model-response-invalid', `The model call ${plan.address} came back without a message.`);
  if (plan.parse !== undefined) run.parsed.set(scope.path.join('/'), meaningsOf(result.message, result.parsed));
  return {
    message: result.message,
    model: result.model ?? plan.model,
    ...(result.usage === undefined ? {} : { usage: result.usage }),
    ...(result.uncounted === undefined ? {} : { uncounted: result.uncounted }),
    ...(result.finish === undefined ? {} : { finish: result.finish }),
  };
}

/** Providers refuse a transcript with a call that names no tool, so nothing of such an answer may enter it. */
export function withNamedCalls<Response extends StoredResponse>(response: Response): Response {
  const nameless = toolCallsOf(response.message).find(({ name }) => name.trim() === '');
  if (nameless === undefined) return response;
  throw new HoldfastError(
    'model-response-invalid',
    `The answer of ${response.model} cannot be used: tool call function name is empty, in the call "${nameless.id}".`,
  );
}

/** What a failed call leaves behind for whoever decides about another one. It goes through wraps and over borders with the error. */
export interface FailedCallDetails {
  readonly retryable?: boolean;
  readonly retryAfterMs?: number;
  /** What a stream had said when it broke. */
  readonly partial?: Message;
}

function failedCall({ code, message, ...advice }: ModelFailure, partial: Message | undefined): HoldfastError {
  const details: FailedCallDetails = { ...advice, ...(partial === undefined ? {} : { partial }) };
  return errorOf({ code, message, ...(Object.keys(details).length === 0 ? {} : { details }) });
}

/** What the worker said of a failure, when it is one of a model call. */
export function detailsOf(error: unknown): FailedCallDetails {
  const { details } = error as { details?: unknown };
  if (typeof details !== 'object' || details === null) return {};
  const { retryable, retryAfterMs, partial } = details as Partial<Record<keyof FailedCallDetails, unknown>>;
  return {
    ...(typeof retryable === 'boolean' ? { retryable } : {}),
    ...(typeof retryAfterMs === 'number' ? { retryAfterMs } : {}),
    ...(isMessage(partial) ? { partial } : {}),
  };
}
