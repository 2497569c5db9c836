import type { GenerateRequest, LanguageModel, ModelProvider } from '../activities/models';
import { HoldfastError, messageOf } from '../contract/plain/errors';
import type { Json, Message, Usage } from '../contract/plain/messages';
import type { Said } from './scripted-answer';
import { streamedAnswer, wholeAnswer, wordsOf } from './scripted-answer';

export interface ScriptedToolCall {
  readonly name: string;
  readonly input: Json;
  readonly id?: string;
}

/** A text, or the pieces in which a model that streams says it. */
export type ScriptedText = string | readonly string[];

export type ScriptedAnswer =
  | { readonly text: ScriptedText; readonly usage?: Usage }
  | { readonly toolCalls: readonly ScriptedToolCall[]; readonly text?: ScriptedText; readonly usage?: Usage }
  /** A provider that fails. One that streams says the text first, and what it took. */
  | { readonly error: string; readonly retryable?: boolean; readonly text?: ScriptedText; readonly usage?: Usage };

export type ScriptedStep = ScriptedAnswer | ((request: ScriptedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>);

export interface ScriptedModelOptions {
  /** In runs that stream, answers come in pieces: texts by words or as the script has them, arguments of calls as bits of JSON. */
  readonly stream?: boolean;
}

/** What the model was asked, and by which name. */
export interface ScriptedRequest extends GenerateRequest {
  readonly model: string;
}

/** Answers step by step. It fails on a call too many, and `assertComplete` on steps that are left. */
export interface ScriptedModel extends ModelProvider, LanguageModel {
  readonly requests: readonly ScriptedRequest[];
  assertComplete(): void;
}

export function scriptedModel(steps: readonly ScriptedStep[], options: ScriptedModelOptions = {}): ScriptedModel {
  checkScript(steps);
  const streams = checkedStream(options);
  const requests: ScriptedRequest[] = [];
  const next = async (request: ScriptedRequest): Promise<Said> => {
    const position = requests.push(request) - 1;
    const step = steps[position];
    if (step === undefined)
      throw failure(
        `scriptedModel: call ${position + 1} is one too many, the script has ${count(steps.length)}. The model was asked: ${asked(request)}`,
      );
    const given = typeof step === 'function' ? await step(request) : step;
    const problem = problemOf(given, position);
    if (problem !== undefined) throw failure(problem);
    return saidBy(given, position);
  };
  const modelNamed = (model: string): LanguageModel => ({
    generate: async (request) => wholeAnswer(await next({ ...request, model })),
    ...(streams ? { stream: (request: GenerateRequest) => streamedAnswer(() => next({ ...request, model })) } : {}),
  });
  return {
    requests,
    ...modelNamed('scripted'),
    model: modelNamed,
    assertComplete() {
      const left = steps.slice(requests.length).map((step, index) => `${requests.length + index + 1}. ${described(step)}`);
      if (left.length > 0)
        throw new Error(
          `scriptedModel: the model was called ${requests.length} times, and ${count(left.length)} of the script were not used: ${left.join(' ')}`,
        );
    },
  };
}

function checkScript(steps: unknown): void {
  if (!Array.isArray(steps)) throw new HoldfastError('request-invalid', 'scriptedModel takes a list of steps.');
  steps.forEach((step: unknown, position) => {
    const problem = typeof step === 'function' ? undefined : problemOf(step, position);
    if (problem !== undefined) throw new HoldfastError('request-invalid', problem);
  });
}

function checkedStream(options: unknown): boolean {
  const { stream } = (options ?? {}) as { readonly stream?: unknown };
  if (typeof options !== 'object' || (stream !== undefined && typeof stream !== 'boolean'))
    throw new HoldfastError('request-invalid', 'The options of scriptedModel are none; write { stream: true }, or leave them out.');
  return stream === true;
}

/** A step that says nothing, such as one with a misspelt field, would pass for an answer without text. */
function problemOf(step: unknown, position: number): string | undefined {
  const fields = (typeof step === 'object' && step !== null ? step : {}) as Record<string, unknown>;
  const { text, toolCalls } = fields;
  const isText = (value: unknown): boolean => typeof value === 'string';
  const isSaid = (value: unknown): boolean => isText(value) || (Array.isArray(value) && value.length > 0 && value.every(isText));
  const isCall = (call: unknown): boolean =>
    typeof call === 'object' &&
    call !== null &&
    isText((call as ScriptedToolCall).name) &&
    (call as { input?: unknown }).input !== undefined;
  if ('error' in fields && !isText(fields['error'])) return wrong(position, 'has an error that is no text', step);
  if ('error' in fields && toolCalls !== undefined) return wrong(position, 'has toolCalls beside its error', step);
  if (!('error' in fields) && text === undefined && (toolCalls === undefined || (toolCalls as unknown[]).length === 0))
    return wrong(position, 'is neither text, toolCalls nor error', step);
  if (text !== undefined && !isSaid(text)) return wrong(position, 'has a text that is none', step);
  if (toolCalls !== undefined && !(Array.isArray(toolCalls) && toolCalls.every(isCall)))
    return wrong(position, 'has toolCalls that are no list of { name, input }', step);
  return undefined;
}

function wrong(position: number, what: string, step: unknown): string {
  return `scriptedModel: step ${position + 1} ${what}: ${messageOf(step)}`;
}

function saidBy(answer: ScriptedAnswer, position: number): Said {
  const { text, usage } = answer;
  const calls = 'toolCalls' in answer ? answer.toolCalls : [];
  return {
    texts: text === undefined ? [] : typeof text === 'string' ? wordsOf(text) : text,
    calls: calls.map(({ name, input, id }, index) => ({ id: id ?? `call-${position + 1}-${index + 1}`, name, input })),
    ...(usage === undefined ? {} : { usage }),
    ...('error' in answer ? { error: failure(answer.error, answer.retryable) } : {}),
  };
}

function failure(message: string, isRetryable = false): Error {
  return Object.assign(new Error(message), { isRetryable });
}

function asked({ messages, tools, model }: ScriptedRequest): string {
  const last = messages.at(-1);
  const offered = tools.length === 0 ? 'no tools' : `the tools ${tools.map(({ name }) => name).join(', ')}`;
  return `${last === undefined ? 'nothing' : summary(last)} (${count(messages.length, 'message')}, ${offered}, model ${model}).`;
}

function summary({ role, parts }: Message): string {
  const text = parts.map((part) => (part.type === 'text' ? part.text : JSON.stringify(part))).join(' ');
  return `${role} "${text.length > 200 ? `${text.slice(0, 200)}…` : text}"`;
}

function described(step: ScriptedStep): string {
  return typeof step === 'function' ? 'a function' : JSON.stringify(step);
}

function count(number: number, noun = 'step'): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
