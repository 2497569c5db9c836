import type { Json, Message, Part, Usage } from '../../contract/plain/messages';
import type { GenerateAnswer, GenerateRequest, LanguageModel } from '../models';

/** What this adapter needs of an AI SDK language model of specification v2, v3 or v4. */
interface SpecifiedModel {
  readonly specificationVersion: string;
  doGenerate(options: Record<string, unknown>): Promise<{ content: readonly Record<string, unknown>[]; usage?: Record<string, unknown> }>;
}

/** An AI SDK language model as a model of Holdfast. Request and response bodies are left behind: they never enter history. */
export function aiSdkModel(model: object): LanguageModel {
  const specified = model as SpecifiedModel;
  return {
    async generate(request) {
      const { content, usage } = await specified.doGenerate(callOptions(request));
      return answerOf(content, usage);
    },
  };
}

function callOptions({ instructions, messages, tools, settings, signal }: GenerateRequest): Record<string, unknown> {
  const prompt = messages.map(promptMessage);
  return {
    prompt: instructions === '' ? prompt : [{ role: 'system', content: instructions }, ...prompt],
    abortSignal: signal,
    ...(tools.length === 0
      ? {}
      : { tools: tools.map((tool) => ({ type: 'function', ...tool })), toolChoice: settings.toolChoice ?? { type: 'auto' } }),
    ...(settings.temperature === undefined ? {} : { temperature: settings.temperature }),
    ...(settings.maxOutputTokens === undefined ? {} : { maxOutputTokens: settings.maxOutputTokens }),
    ...(settings.providerOptions === undefined ? {} : { providerOptions: settings.providerOptions }),
  };
}

function promptMessage(message: Message): Record<string, unknown> {
  if (message.role === 'system')
    return { role: 'system', content: message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('') };
  return { role: message.role, content: message.parts.map(promptPart) };
}

function promptPart(part: Part): Record<string, unknown> {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'reasoning':
      return { type: 'reasoning', text: part.text, ...(part.extra === undefined ? {} : { providerOptions: part.extra }) };
    case 'file':
      return { type: 'file', mediaType: part.mediaType, data: typeof part.data === 'string' ? part.data : new URL(part.data.url) };
    case 'tool-call':
      return {
        type: 'tool-call',
        toolCallId: part.id,
        toolName: part.name,
        input: part.input,
        ...(part.extra === undefined ? {} : { providerOptions: part.extra }),
      };
    case 'tool-result':
      return {
        type: 'tool-result',
        toolCallId: part.callId,
        toolName: part.name,
        output: resultOutput(part.output, part.isError === true),
      };
  }
}

function resultOutput(output: Json, isError: boolean): Record<string, unknown> {
  if (typeof output === 'string') return { type: isError ? 'error-text' : 'text', value: output };
  return { type: isError ? 'error-json' : 'json', value: output };
}

function answerOf(content: readonly Record<string, unknown>[], usage: Record<string, unknown> | undefined): GenerateAnswer {
  const parts: Part[] = [];
  for (const item of content) {
    const extra = item['providerMetadata'] === undefined ? {} : { extra: item['providerMetadata'] as Record<string, Json> };
    if (item['type'] === 'text') parts.push({ type: 'text', text: String(item['text']) });
    else if (item['type'] === 'reasoning') parts.push({ type: 'reasoning', text: String(item['text']), ...extra });
    else if (item['type'] === 'tool-call')
      parts.push({
        type: 'tool-call',
        id: String(item['toolCallId']),
        name: String(item['toolName']),
        input: inputOf(item['input']),
        ...extra,
      });
    else if (item['type'] === 'file') parts.push({ type: 'file', mediaType: String(item['mediaType']), data: String(item['data']) });
  }
  return usage === undefined ? { parts } : { parts, usage: usageOf(usage) };
}

/** Arguments come as text. What is no JSON goes on as the text that it is, and the tool's schema refuses it. */
function inputOf(input: unknown): Json {
  if (typeof input !== 'string') return (input ?? {}) as Json;
  if (input.trim() === '') return {};
  try {
    return JSON.parse(input) as Json;
  } catch {
    return input;
  }
}

/** Usage is flat in v2 and nested from v3 on. */
function usageOf(usage: Record<string, unknown>): Usage {
  const count = (value: unknown, key: string): number | undefined => {
    if (typeof value === 'number') return value;
    const nested = (value as Record<string, unknown> | undefined)?.[key];
    return typeof nested === 'number' ? nested : undefined;
  };
  const detail = (flat: string, value: unknown, key: string): unknown =>
    usage[flat] ?? (typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined);
  const cached = detail('cachedInputTokens', usage['inputTokens'], 'cacheRead');
  const reasoning = detail('reasoningTokens', usage['outputTokens'], 'reasoning');
  return {
    inputTokens: count(usage['inputTokens'], 'total') ?? 0,
    outputTokens: count(usage['outputTokens'], 'total') ?? 0,
    ...(typeof cached === 'number' ? { cachedInputTokens: cached } : {}),
    ...(typeof reasoning === 'number' ? { reasoningTokens: reasoning } : {}),
  };
}
