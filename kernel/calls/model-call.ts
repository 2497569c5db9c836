import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { addModelUsage, addUsage } from '../../contract/usage';
import { limits, utf8Length } from '../../contract/limits';
import type { Message, Usage } from '../../contract/messages/messages';
import { isMessage, textOf, toolCallsOf } from '../../contract/messages/messages';
import type { CallModelResult, ModelFailure, ParseOutputResult, RequestSlots } from '../../contract/record/wire';
import type { AgentDefinition } from '../define/definition';
import type { ModelError } from '../define/retry-options';
import { parsedArgumentsOf } from '../run/parsed-arguments';
import type { ModelCall } from '../run/ports';
import type { AgentScope } from '../run/scope';
import type { RunState } from '../run/state';
import { errorOf } from '../effects/errors';

export type StoredResponse = Required<Pick<CallModelResult, 'message' | 'model'>> & Pick<CallModelResult, 'usage' | 'uncounted' | 'finish'>;

export interface AttemptEnd<Response extends StoredResponse = StoredResponse> {
  readonly response?: Response;
  readonly error?: ModelError;
  readonly partial?: Message;
}

type AskedSlots = Pick<RequestSlots, 'instructions' | 'tools' | 'model'> & {
  readonly [Slot in keyof RequestSlots]?: RequestSlots[Slot] | undefined;
};

/** The order of recorded histories. Absent slots are null. */
export function requestSlots({ workerMiddleware }: AgentDefinition, asked: AskedSlots): ModelCall['slots'] {
  return {
    instructions: asked.instructions,
    tools: asked.tools,
    model: asked.model,
    settings: asked.settings ?? null,
    workerMiddleware,
    stream: asked.stream ?? 'whole',
    output: asked.output ?? null,
    retries: asked.retries ?? null,
    parse: asked.parse ?? null,
    specs: asked.specs ?? null,
    deferred: asked.deferred ?? null,
    final: asked.final ?? null,
    catalog: asked.catalog ?? null,
  };
}

export async function callModelOnce(
  scope: AgentScope,
  call: Pick<ModelCall, 'address' | 'path' | 'messages' | 'slots'>,
): Promise<StoredResponse> {
  const { run, agent, record } = scope;
  const { address, slots } = call;
  const size = utf8Length(slots.instructions);
  if (size > limits.payload / 2)
    throw new HoldfastError('payload-too-large', `The instructions of agent "${agent.name}" have ${size} bytes.`);
  const runLocal = run.runLocal.toSend(scope.path, address, undefined);
  const result = await run.ports.callModel({ ...call, turn: record.turn, facts: run.manifest.defaults.model, runLocal });
  if (result.address !== address) throw new HoldfastError('internal', `The model call ${address} got the answer of ${result.address}.`);
  if (result.usage !== undefined) countUsage(run.state, result.model ?? slots.model, result.usage);
  run.runLocal.take(scope.path, result);
  if (result.failed !== undefined) throw failedCall(result.failed, result.partial);
  if (!isMessage(result.message))
    throw new HoldfastError('model-response-invalid', `The model call ${address} came back without a message.`);
  if (slots.parse !== null) run.parsed.set(scope.path.join('/'), parsedArgumentsOf(result.message, result.parsed));
  noteRead(scope, result.message, result.read);
  return {
    message: result.message,
    model: result.model ?? slots.model,
    ...defined({ usage: result.usage, uncounted: result.uncounted, finish: result.finish }),
  };
}

function noteRead({ run, path }: AgentScope, message: Message, result: ParseOutputResult | undefined): void {
  if (result === undefined) run.read.delete(path.join('/'));
  else run.read.set(path.join('/'), { text: textOf(message), result });
}

function countUsage(state: RunState, model: string, usage: Usage): void {
  state.usage = addUsage(state.usage, usage);
  state.usageByModel = addModelUsage(state.usageByModel, model, usage);
}

/** Providers refuse a call without a tool name, so such an answer must not enter a transcript. */
export function withNamedCalls<Response extends StoredResponse>(response: Response): Response {
  const nameless = toolCallsOf(response.message).find(({ name }) => name.trim() === '');
  if (nameless === undefined) return response;
  throw new HoldfastError(
    'model-response-invalid',
    `The answer of ${response.model} cannot be used: tool call function name is empty, in the call "${nameless.id}".`,
  );
}

/** The worker's advice about another attempt, kept with the error through wraps and continue-as-new. */
interface FailedCallDetails extends Pick<ModelFailure, 'retryable' | 'retryAfterMs'> {
  readonly partial?: Message;
}

function failedCall({ code, message, ...advice }: ModelFailure, partial: Message | undefined): HoldfastError {
  const details: FailedCallDetails = { ...advice, ...defined({ partial }) };
  return errorOf({ code, message, ...(Object.keys(details).length === 0 ? {} : { details }) });
}

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
