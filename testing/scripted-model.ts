import type { GenerateAnswer, GenerateRequest, LanguageModel, ModelProvider } from '../activities/models';
import { HoldfastError, messageOf } from '../contract/plain/errors';
import type { Json, Message, Part, Usage } from '../contract/plain/messages';

export interface ScriptedToolCall {
  readonly name: string;
  readonly input: Json;
  readonly id?: string;
}

export type ScriptedAnswer =
  | { readonly text: string; readonly usage?: Usage }
  | { readonly toolCalls: readonly ScriptedToolCall[]; readonly text?: string; readonly usage?: Usage }
  | { readonly error: string; readonly retryable?: boolean };

export type ScriptedStep = ScriptedAnswer | ((request: ScriptedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>);

/** What the model was asked, and by which name. */
export interface ScriptedRequest extends GenerateRequest {
  readonly model: string;
}

/** Answers step by step. It fails on a call too many, and `assertComplete` on steps that are left. */
export interface ScriptedModel extends ModelProvider, LanguageModel {
  readonly requests: readonly ScriptedRequest[];
  assertComplete(): void;
}

export function scriptedModel(steps: readonly ScriptedStep[]): ScriptedModel {
  checkScript(steps);
  const requests: ScriptedRequest[] = [];
  const answer = async (request: ScriptedRequest): Promise<GenerateAnswer> => {
    const position = requests.push(request) - 1;
    const step = steps[position];
    if (step === undefined)
      throw failure(
        `scriptedModel: call ${position + 1} is one too many, the script has ${count(steps.length)}. The model was asked: ${asked(request)}`,
      );
    const given = typeof step === 'function' ? await step(request) : step;
    const problem = problemOf(given, position);
    if (problem !== undefined) throw failure(problem);
    return answerOf(given, position);
  };
  return {
    requests,
    generate: (request) => answer({ ...request, model: 'scripted' }),
    model: (name) => ({ generate: (request) => answer({ ...request, model: name }) }),
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

/** A step that says nothing, such as one with a misspelt field, would pass for an answer without text. */
function problemOf(step: unknown, position: number): string | undefined {
  const fields = (typeof step === 'object' && step !== null ? step : {}) as Record<string, unknown>;
  const { text, toolCalls } = fields;
  const isText = (value: unknown): boolean => typeof value === 'string';
  const isCall = (call: unknown): boolean =>
    typeof call === 'object' &&
    call !== null &&
    isText((call as ScriptedToolCall).name) &&
    (call as { input?: unknown }).input !== undefined;
  if ('error' in fields) return isText(fields['error']) ? undefined : wrong(position, 'has an error that is no text', step);
  if (text === undefined && (toolCalls === undefined || (toolCalls as unknown[]).length === 0))
    return wrong(position, 'is neither text, toolCalls nor error', step);
  if (text !== undefined && !isText(text)) return wrong(position, 'has a text that is none', step);
  if (toolCalls !== undefined && !(Array.isArray(toolCalls) && toolCalls.every(isCall)))
    return wrong(position, 'has toolCalls that are no list of { name, input }', step);
  return undefined;
}

function wrong(position: number, what: string, step: unknown): string {
  return `scriptedModel: step ${position + 1} ${what}: ${messageOf(step)}`;
}

function answerOf(answer: ScriptedAnswer, position: number): GenerateAnswer {
  if ('error' in answer) throw failure(answer.error, answer.retryable);
  const parts: Part[] = [];
  if (answer.text !== undefined) parts.push({ type: 'text', text: answer.text });
  if ('toolCalls' in answer) {
    answer.toolCalls.forEach(({ name, input, id }, index) =>
      parts.push({ type: 'tool-call', id: id ?? `call-${position + 1}-${index + 1}`, name, input }),
    );
  }
  return answer.usage === undefined ? { parts } : { parts, usage: answer.usage };
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
