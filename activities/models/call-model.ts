import { defined } from '../../contract/defined';
import { randomUUID } from 'node:crypto';
import type { DeltaBody } from '../../contract/deltas';
import { HoldfastError } from '../../contract/errors';
import { jsonSize, limits } from '../../contract/limits';
import type { FinishReason, StoredMessage, Usage } from '../../contract/messages/messages';
import { isMessage, notJson } from '../../contract/messages/messages';
import type { Uncounted } from '../../contract/usage';
import { uncountedIn } from '../../contract/usage';
import type { ParseInputResult, ParseOutputResult, StoredRequest } from '../../contract/record/wire';
import { abortOf } from '../calls/abort';
import type { BrokenAnswer } from '../failures';
import type { ModelChunk } from './language-model';
import { AnswerAssembly } from './chunks';
import { WrapWatch } from '../worker-middleware/wrap-guard';
import type { ModelCallParts } from './called-model';
import { CalledModel, checkedUsage, noMessage } from './called-model';
import { consume, orAborted } from './model-stream';
import { streamed, whole } from './model-layers';
import { parsedCalls, readOutput } from '../schemas/parse-calls';
import type { WorkerCall, WorkerModelRequest } from '../worker-middleware/worker-middleware';

export interface ModelAnswer {
  readonly message: StoredMessage;
  readonly model: string;
  readonly usage?: Usage;
  readonly uncounted?: readonly Uncounted[];
  readonly finish?: FinishReason;
  readonly parsed?: readonly (ParseInputResult | null)[];
  readonly read?: ParseOutputResult;
}

interface CallListener {
  readonly publish?: ((delta: DeltaBody) => void) | undefined;
  readonly onBreak?: (left: BrokenAnswer) => void;
  readonly watch?: WrapWatch;
}

/**
 * In-memory runs call the function, too, so no Temporal is allowed. A cancelled stream returns its parts so far; `onBreak` gets the parts
 * of a broken stream.
 */
export async function generate(
  request: StoredRequest,
  parts: ModelCallParts,
  call: WorkerCall,
  { publish, onBreak, watch = new WrapWatch() }: CallListener = {},
): Promise<ModelAnswer> {
  const { slots, messages } = request;
  const provider = new CalledModel(parts, slots, call);
  const middleware = parts.middleware.named(slots.workerMiddleware ?? []);
  const asked: WorkerModelRequest = {
    instructions: slots.instructions ?? '',
    messages,
    tools: slots.tools ?? [],
    model: slots.model ?? 'default',
    settings: slots.settings ?? {},
    slots: { ...slots },
  };
  const withParsed = async (answer: ModelAnswer): Promise<ModelAnswer> => ({
    ...answer,
    ...(await parsedCalls(parts.tools, slots.parse, answer.message, slots.specs ?? [])),
    ...(await readOutput(parts.outputs, slots.output, answer.message)),
  });
  const assembly = new AnswerAssembly();
  try {
    if ((slots.stream ?? 'whole') === 'whole') {
      const run = whole(middleware, (changed) => provider.generate(changed), call, watch);
      const response = await orAborted(run(asked), call.signal);
      return await withParsed(checkedAnswer(response?.message, response, provider, asked.model));
    }
    const chunks = streamed(middleware, (changed) => provider.stream(changed), call, watch)(asked);
    const ended = await consume(chunks, call.signal, (chunk) => {
      assembly.add(chunk);
      if (publish !== undefined && provider.streams) publishChunk(chunk, publish);
    });
    const answer = assembly.answer();
    if (ended === 'aborted') return partialAnswer(answer.parts, provider, call.signal);
    if (!assembly.complete) throw brokenOff(provider.answeredBy);
    return await withParsed(checkedAnswer({ role: 'assistant', parts: answer.parts }, answer, provider, asked.model));
  } catch (error) {
    const { spent } = provider;
    onBreak?.({ said: { role: 'assistant', parts: assembly.answer().parts }, ...defined({ usage: spent }) });
    throw error;
  }
}

function publishChunk(chunk: ModelChunk, publish: (delta: DeltaBody) => void): void {
  switch (chunk.type) {
    case 'text':
      if (chunk.text !== '') publish({ type: 'text-delta', text: chunk.text });
      return;
    case 'reasoning':
      if (chunk.text !== '') publish({ type: 'reasoning-delta', text: chunk.text });
      return;
    case 'tool-input-start':
      publish({ type: 'tool-input-start', callId: chunk.callId, tool: chunk.tool });
      return;
    case 'tool-input':
      publish({ type: 'tool-input-delta', callId: chunk.callId, text: chunk.text });
  }
}

function checkedAnswer(
  message: unknown,
  { usage, finish }: { readonly usage?: unknown; readonly finish?: unknown },
  { answeredBy }: CalledModel,
  asked: string,
): ModelAnswer {
  const model = answeredBy || asked;
  if (!isMessage(message)) throw noMessage(model);
  const problem = notJson(message);
  if (problem !== undefined) throw new HoldfastError('model-response-invalid', `The answer of ${model} is not JSON: ${problem}.`);
  const bytes = jsonSize(message);
  if (bytes > limits.payload - 16_384) throw new HoldfastError('model-response-too-large', `The answer of ${model} has ${bytes} bytes.`);
  const counted = checkedUsage(usage);
  // An answer of a worker middleware without a provider is free.
  const uncounted = counted === undefined || answeredBy === '' ? [] : uncountedIn(counted);
  const reason = unusual(finish);
  return {
    message: { ...message, role: 'assistant', id: randomUUID() },
    model,
    ...defined({ usage: counted }),
    ...(uncounted.length === 0 ? {} : { uncounted }),
    ...defined({ finish: reason }),
  };
}

/** Without tool calls, which no worker would make after the cancel. */
function partialAnswer(parts: StoredMessage['parts'], provider: CalledModel, signal: AbortSignal): ModelAnswer {
  const said = parts.filter(({ type }) => type === 'text' || type === 'reasoning');
  if (said.length === 0) throw abortOf(signal);
  return { ...checkedAnswer({ role: 'assistant', parts: said }, { usage: provider.spent }, provider, ''), finish: 'cancelled' };
}

function brokenOff(model: string): Error {
  return Object.assign(new Error(`The answer of ${model} broke off: its stream ended without a finish.`), { isRetryable: true });
}

const reasons = new Set<unknown>(['length', 'content-filter', 'error', 'cancelled', 'other']);

function unusual(finish: unknown): FinishReason | undefined {
  return reasons.has(finish) ? (finish as FinishReason) : undefined;
}
