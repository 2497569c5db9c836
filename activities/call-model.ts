import { randomUUID } from 'node:crypto';
import { HoldfastError } from '../contract/plain/errors';
import type { FoldedRequest } from '../contract/plain/fold';
import { jsonSize, limits } from '../contract/plain/limits';
import type { Failure, Message, StoredMessage, Usage } from '../contract/plain/messages';
import { isMessage, notJson } from '../contract/plain/messages';
import type { GenerateAnswer, ModelRegistry } from './models';
import type { ToolRegistry, ToolSpec } from './tools';
import { exitToolSpec } from './exit-tool';
import type { HalfRegistry, WorkerCall, WorkerModelRequest, WorkerModelResponse } from './worker-middleware';
import { wrapAround } from './worker-middleware';

export interface ModelAnswer {
  readonly message: StoredMessage;
  readonly model: string;
  readonly usage?: Usage;
}

/** One model call on the worker: worker halves around the provider. Knows no Temporal; in-memory runs use it too. */
export async function generate(
  request: FoldedRequest,
  parts: { readonly models: ModelRegistry; readonly tools: ToolRegistry; readonly halves: HalfRegistry },
  call: WorkerCall,
): Promise<ModelAnswer> {
  const { slots, messages } = request;
  let answeredBy = '';
  const core = async (asked: WorkerModelRequest): Promise<WorkerModelResponse> => {
    const { id, model } = await parts.models.resolve(asked.model);
    answeredBy = id;
    const answer = await model.generate({
      instructions: asked.instructions,
      messages: asked.messages,
      tools: asked.tools.map((name) => specOf(name, parts.tools)),
      settings: asked.settings,
      signal: call.signal,
    });
    const { parts: said, usage } = (answer ?? {}) as Partial<GenerateAnswer>;
    const message = { role: 'assistant', parts: said } as Message;
    return usage === undefined ? { message } : { message, usage };
  };
  const wraps = parts.halves
    .of(slots.halves ?? [])
    .flatMap(({ wrapModel }) => (wrapModel?.generate === undefined ? [] : [wrapModel.generate.bind(wrapModel)]));
  const run = wrapAround(
    wraps.map(
      (wrap) => (asked: WorkerModelRequest, next: (asked: WorkerModelRequest) => Promise<WorkerModelResponse>) => wrap(asked, next, call),
    ),
    core,
  );
  const response = await run({
    instructions: slots.instructions ?? '',
    messages,
    tools: slots.tools ?? [],
    model: slots.model ?? 'default',
    settings: slots.settings ?? {},
  });
  const message = checkedAnswer(response?.message, answeredBy);
  const usage = checkedUsage(response.usage);
  return { message, model: answeredBy, ...(usage === undefined ? {} : { usage }) };
}

function specOf(name: string, tools: ToolRegistry): ToolSpec {
  const spec = name === exitToolSpec.name ? exitToolSpec : tools.specOf(name);
  if (spec === undefined) throw new HoldfastError('tool-unknown', `This worker has no tool "${name}".`);
  return spec;
}

function checkedAnswer(message: unknown, model: string): StoredMessage {
  if (!isMessage(message)) throw new HoldfastError('model-response-invalid', `The model ${model} answered with no message.`);
  const problem = notJson(message);
  if (problem !== undefined) throw new HoldfastError('model-response-invalid', `The answer of ${model} is not JSON: ${problem}.`);
  const bytes = jsonSize(message);
  if (bytes > limits.payload - 16_384) throw new HoldfastError('model-response-too-large', `The answer of ${model} has ${bytes} bytes.`);
  return { ...message, role: 'assistant', id: randomUUID() };
}

export type { Failure };

/** Tokens as counts; what a provider says otherwise is taken for nothing. */
function checkedUsage(usage: unknown): Usage | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined;
  const counts = usage as Partial<Record<keyof Usage, unknown>>;
  const count = (value: unknown): number => (typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0);
  const cachedInputTokens = count(counts.cachedInputTokens);
  const reasoningTokens = count(counts.reasoningTokens);
  return {
    inputTokens: count(counts.inputTokens),
    outputTokens: count(counts.outputTokens),
    ...(cachedInputTokens > 0 ? { cachedInputTokens } : {}),
    ...(reasoningTokens > 0 ? { reasoningTokens } : {}),
  };
}
