import { defined } from '../contract/defined';
import type { GenerateRequest, LanguageModel, ModelProvider, GenerateAnswer, ModelChunk } from '../activities/models/language-model';
import { HoldfastError, messageOf } from '../contract/errors';
import type { Json, Message, Usage, Part, ToolCall } from '../contract/messages/messages';
import { setImmediate as otherCode } from 'node:timers/promises';

export interface ScriptedToolCall {
  readonly name: string;
  readonly input: Json;
  readonly id?: string;
}

/** A text, or pieces for a stream. */
export type ScriptedText = string | readonly string[];

export type ScriptedAnswer =
  | { readonly text: ScriptedText; readonly usage?: Usage }
  | { readonly toolCalls: readonly ScriptedToolCall[]; readonly text?: ScriptedText; readonly usage?: Usage }
  /** A provider error. A stream yields `text` and `usage` first. */
  | { readonly error: string; readonly retryable?: boolean; readonly text?: ScriptedText; readonly usage?: Usage };

export type ScriptedStep = ScriptedAnswer | ((request: ScriptedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>);

export interface ScriptedModelOptions {
  /** Streams answers in runs that stream: texts by words or scripted pieces, arguments as bits of JSON. */
  readonly stream?: boolean;
}

/** A request, with the model name. */
export interface ScriptedRequest extends GenerateRequest {
  readonly model: string;
}

/** A scripted model, which fails on a request too many. `assertComplete` fails on unused steps. */
export interface ScriptedModel extends ModelProvider, LanguageModel {
  readonly requests: readonly ScriptedRequest[];
  assertComplete(): void;
}

export type Script = readonly ScriptedStep[];

type Scripts = Readonly<Record<string, Script>>;

/**
 * Answers model calls from a script, for tests without a provider. One script for each model: `{ 'test/writer': [...], 'test/critic': [...]
 * }`.
 * @example
 * const model = scriptedModel([{ toolCalls: [{ name: 'refund', input: { orderId: '42', amount: 80 } }] }, { text: 'Paid.' }]);
 * const run = await testRun(support, { input: 'Refund order 42', model, tools });
 * expect(await run.result()).toBe('Paid.');
 * expect(model.requests).toHaveLength(2);
 */
export function scriptedModel(scripts: Scripts, options?: ScriptedModelOptions): ScriptedModel;
/** One script for all models. */
export function scriptedModel(steps: Script, options?: ScriptedModelOptions): ScriptedModel;
export function scriptedModel(script: Script | Scripts, options: ScriptedModelOptions = {}): ScriptedModel {
  const parts = partsOf(script);
  const streams = checkedStream(options);
  const requests: ScriptedRequest[] = [];
  const next = async (request: ScriptedRequest): Promise<Said> => {
    requests.push(request);
    const part = partFor(parts, request);
    const { label, steps } = part;
    const position = part.used++;
    const step = steps[position];
    if (step === undefined)
      throw failure(
        `${label}: call ${position + 1} is one too many, the script has ${count(steps.length)}. The model was asked: ${asked(request)}`,
      );
    const given = typeof step === 'function' ? await step(request) : step;
    const problem = problemOf(given, position, label);
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
      const problems = parts.filter(({ used, steps }) => used < steps.length).map(leftIn);
      if (problems.length > 0) throw new Error(problems.join(' '));
    },
  };
}

interface ScriptPart {
  /** Absent: for all models. */
  readonly name?: string;
  readonly label: string;
  readonly steps: Script;
  used: number;
}

function partsOf(script: unknown): readonly ScriptPart[] {
  if (Array.isArray(script)) return [checkedPart({ label: 'scriptedModel', steps: script as Script, used: 0 })];
  const entries = typeof script === 'object' && script !== null ? Object.entries(script) : [];
  if (entries.length === 0) throw noScript();
  return entries.map(([name, steps]) => checkedPart({ name, label: `scriptedModel "${name}"`, steps: steps as Script, used: 0 }));
}

/** A provider gets model names without its prefix: `writer` is the script of `test/writer`. */
function partFor(parts: readonly ScriptPart[], request: ScriptedRequest): ScriptPart {
  const { model } = request;
  const found =
    parts.find(({ name }) => name === undefined || name === model) ?? parts.find(({ name }) => name?.endsWith(`/${model}`) === true);
  if (found !== undefined) return found;
  const known = parts.map(({ name }) => `"${name}"`).join(', ');
  throw failure(`scriptedModel: there is no script for the model "${model}", only for ${known}. It was asked: ${asked(request)}`);
}

function leftIn({ label, steps, used }: ScriptPart): string {
  const left = steps.slice(used).map((step, index) => `${used + index + 1}. ${described(step)}`);
  return `${label}: the model was called ${used} times, and ${count(left.length)} of the script were not used: ${left.join(' ')}`;
}

function checkedPart(part: ScriptPart): ScriptPart {
  const { name, label, steps } = part;
  if (!Array.isArray(steps)) throw noScript(`; "${name}" has none`);
  steps.forEach((step: unknown, position) => {
    const problem = typeof step === 'function' ? undefined : problemOf(step, position, label);
    if (problem !== undefined) throw new HoldfastError('request-invalid', problem);
  });
  return part;
}

function noScript(which = ''): HoldfastError {
  return new HoldfastError(
    'request-invalid',
    `scriptedModel takes a list of steps, or an object with such lists by the names of models${which}.`,
  );
}

function checkedStream(options: unknown): boolean {
  const { stream } = (options ?? {}) as { readonly stream?: unknown };
  if (typeof options !== 'object' || (stream !== undefined && typeof stream !== 'boolean'))
    throw new HoldfastError('request-invalid', 'The options of scriptedModel are none; write { stream: true }, or leave them out.');
  return stream === true;
}

/** A misspelled field would become an answer without text. */
function problemOf(step: unknown, position: number, label: string): string | undefined {
  const wrong = (what: string): string => `${label}: step ${position + 1} ${what}: ${messageOf(step)}`;
  const fields = (typeof step === 'object' && step !== null ? step : {}) as Record<string, unknown>;
  const { text, toolCalls } = fields;
  const isText = (value: unknown): boolean => typeof value === 'string';
  const isSaid = (value: unknown): boolean => isText(value) || (Array.isArray(value) && value.length > 0 && value.every(isText));
  const isCall = (call: unknown): boolean =>
    typeof call === 'object' &&
    call !== null &&
    isText((call as ScriptedToolCall).name) &&
    (call as { input?: unknown }).input !== undefined;
  if ('error' in fields && !isText(fields['error'])) return wrong('has an error that is no text');
  if ('error' in fields && toolCalls !== undefined) return wrong('has toolCalls beside its error');
  if (!('error' in fields) && text === undefined && (toolCalls === undefined || (toolCalls as unknown[]).length === 0))
    return wrong('is neither text, toolCalls nor error');
  if (text !== undefined && !isSaid(text)) return wrong('has a text that is none');
  if (toolCalls !== undefined && !(Array.isArray(toolCalls) && toolCalls.every(isCall)))
    return wrong('has toolCalls that are no list of { name, input }');
  return undefined;
}

function saidBy(answer: ScriptedAnswer, position: number): Said {
  const { text, usage } = answer;
  const calls = 'toolCalls' in answer ? answer.toolCalls : [];
  return {
    texts: text === undefined ? [] : typeof text === 'string' ? wordsOf(text) : text,
    calls: calls.map(({ name, input, id }, index) => ({ id: id ?? `call-${position + 1}-${index + 1}`, name, input })),
    ...defined({ usage }),
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

export interface Said {
  readonly texts: readonly string[];
  readonly calls: readonly ToolCall[];
  readonly usage?: Usage;
  readonly error?: Error;
}

export function wholeAnswer({ texts, calls, usage, error }: Said): GenerateAnswer {
  if (error !== undefined) throw error;
  const parts = [...(texts.length === 0 ? [] : [{ type: 'text' as const, text: texts.join('') }]), ...calls.map(partOf)];
  return usage === undefined ? { parts } : { parts, usage };
}

/** Other code runs between pieces, as with a provider. */
export async function* streamedAnswer(next: () => Promise<Said>): AsyncGenerator<ModelChunk> {
  const said = await next();
  for (const chunk of chunksOf(said)) {
    await otherCode();
    yield chunk;
  }
  if (said.error !== undefined) throw said.error;
}

function* chunksOf({ texts, calls, usage, error }: Said): Generator<ModelChunk> {
  const spent = usage === undefined ? {} : { usage };
  for (const text of texts) yield { type: 'text', text };
  for (const call of calls) {
    yield { type: 'tool-input-start', callId: call.id, tool: call.name };
    for (const text of bitsOf(JSON.stringify(call.input))) yield { type: 'tool-input', callId: call.id, text };
    yield { type: 'part', part: partOf(call) };
  }
  if (error === undefined) yield { type: 'finish', ...spent };
  else if (usage !== undefined) yield { type: 'usage', usage };
}

function partOf({ id, name, input }: ToolCall): Part {
  return { type: 'tool-call', id, name, input };
}

export function wordsOf(text: string): readonly string[] {
  return text.match(/\s*\S+\s*/g) ?? [text];
}

function bitsOf(json: string): readonly string[] {
  return json.match(/.{1,8}/gsu) ?? [];
}
