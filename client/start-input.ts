import { sentence } from '../contract/check';
import { defined } from '../contract/defined';
import { randomBytes } from 'node:crypto';
import { HoldfastError } from '../contract/errors';
import { jsonSize, limits } from '../contract/limits';
import type { Json, Message, ModelSettings } from '../contract/messages/messages';
import { isAnyMessage, messagesOf } from '../contract/messages/message-shapes';
import { isMessage, notJson } from '../contract/messages/messages';
import { isName, isRunId } from '../contract/names';
import { settingsProblem } from '../contract/model-settings';
import type { RunOptions } from '../contract/run-options';
import { runOptionsProblem } from '../contract/run-options';
import type { StartInput } from '../contract/record/wire';
import { described, isRecord } from './options';

export interface StartOptions {
  /** The same id twice is the same run, also after it has ended, as long as the server keeps it. */
  readonly id?: string;
  readonly values?: Readonly<Record<string, Json>>;
  readonly model?: string;
  readonly settings?: ModelSettings;
  /** Whether models and tools that can answer piece by piece do so. Default: yes. */
  readonly stream?: boolean;
  /** Whether calls of tools that the input ends in run before the model is asked. Default: a run with such an input fails. */
  readonly runPendingToolCalls?: boolean;
  /** How long the run may take in all, such as '30d'. */
  readonly deadline?: string;
  readonly startDelay?: string;
  readonly tags?: readonly string[];
  /** What this run has otherwise than its agents say: tools, aliases, options of tools; for all agents or by agent. */
  readonly options?: RunOptions;
  /** Who starts it. */
  readonly by?: string;
}

/** What a run is started with, checked. */
export function startInputOf(tenant: string, agent: string, input: unknown, options: StartOptions, externalStorage: boolean): StartInput {
  checkOptions(options);
  const { id = `run-${randomBytes(6).toString('hex')}` } = options;
  if (!isRunId(id)) throw new HoldfastError('run-id-invalid', `"${id}" is no id for a run.`);
  if (!isName(agent)) throw new HoldfastError('agent-unknown', `"${agent}" is no name of an agent.`);
  const start: StartInput = {
    version: 1,
    tenant,
    id,
    agent,
    input: checkedInput(input),
    values: options.values ?? {},
    stream: options.stream ?? true,
    options: options.options ?? {},
    tags: options.tags ?? [],
    ...defined({ model: options.model, settings: options.settings, by: options.by }),
    ...(externalStorage ? { externalStorage } : {}),
    ...(options.runPendingToolCalls === true ? { runPendingToolCalls: true } : {}),
  };
  const problem = notJson(start);
  if (problem !== undefined) throw new HoldfastError('input-invalid', `The input is not JSON: ${problem}.`);
  const bytes = jsonSize(start);
  if (bytes > limits.runInput) throw new HoldfastError('input-too-large', `The input has ${bytes} bytes; at most ${limits.runInput} fit.`);
  return start;
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

const forms: readonly (readonly [keyof StartOptions, (value: unknown) => boolean, string])[] = [
  ['values', isRecord, 'an object with the values'],
  ['model', isText, 'the name of a model'],
  ['settings', isRecord, 'an object such as { temperature: 0 }'],
  ['stream', (value) => typeof value === 'boolean', 'true or false'],
  ['runPendingToolCalls', (value) => typeof value === 'boolean', 'true or false'],
  ['deadline', isText, 'a duration such as "30d"'],
  ['startDelay', isText, 'a duration such as "1h"'],
  ['tags', (value) => Array.isArray(value) && value.every(isText), 'a list of texts, none of them empty'],
  ['options', isRecord, 'an object'],
  ['by', isText, 'the name of who starts the run'],
];

function checkOptions(options: unknown): void {
  if (!isRecord(options))
    throw new HoldfastError('input-invalid', `The options of a start are ${described(options)}; send an object, or nothing.`);
  for (const [field, fits, form] of forms) {
    const value = options[field];
    if (value !== undefined && !fits(value)) throw new HoldfastError('input-invalid', `${field} is ${described(value)}; send ${form}.`);
  }
  const known: readonly string[] = ['id', ...forms.map(([field]) => field)];
  const unknown = Object.keys(options).find((field) => !known.includes(field));
  if (unknown !== undefined)
    throw new HoldfastError('input-invalid', `A start has no option ${described(unknown)}. It has: ${known.join(', ')}.`);
  const unfit = options['settings'] === undefined ? undefined : settingsProblem(options['settings']);
  if (unfit !== undefined) throw new HoldfastError('options-invalid', `The settings of the start: ${sentence(unfit)}`);
  const problem = options['options'] === undefined ? undefined : runOptionsProblem(options['options']);
  if (problem !== undefined) throw new HoldfastError('options-invalid', `The options of the start: ${sentence(problem)}`);
  const bytes = jsonSize(options['tags'] ?? []);
  if (bytes > limits.tags)
    throw new HoldfastError('input-invalid', `The tags have ${bytes} bytes as JSON, all together; at most ${limits.tags} fit.`);
}

/** A text, a list of messages, or the job of an agent with a prompt. */
function checkedInput(input: unknown): Json {
  if (input === undefined || input === null)
    throw new HoldfastError('input-invalid', 'The input is missing: send a text, a list of messages or a job.');
  if (
    Array.isArray(input) &&
    input.length > 0 &&
    input.every((item) => typeof item === 'object' && item !== null && 'role' in item) &&
    !input.every(isMessage)
  ) {
    if (!input.every(isAnyMessage))
      throw new HoldfastError(
        'input-invalid',
        'A message of the input has no known role (system, user, assistant, tool) or no list of parts, nor is it a chat or an agentic message.',
      );
    // Histories have messages in one shape only.
    return messagesOf(input) as readonly object[] as Json;
  }
  for (const [position, message] of (Array.isArray(input) && input.every(isMessage) ? input : []).entries()) {
    const problem = messageProblem(message);
    if (problem !== undefined) throw new HoldfastError('input-invalid', `Message ${position + 1} of the input ${problem}.`);
  }
  return input as Json;
}

/** What providers would stumble over in a message that somebody else has put together. */
function messageProblem({ role, parts, extra }: Message): string | undefined {
  if (!isRecordOrAbsent(extra)) return 'has an `extra` that is no object';
  for (const [position, part] of parts.entries()) {
    const { type } = part;
    const at = `has a part ${position + 1}, ${type},`;
    if (!isRecordOrAbsent((part as { extra?: unknown }).extra)) return `${at} with an \`extra\` that is no object`;
    if (type === 'file' && typeof part.data !== 'string' && typeof (part.data as { url?: unknown } | null)?.url !== 'string')
      return `${at} whose \`data\` is neither base64 nor { "url": "…" }`;
    if (type === 'tool-call' && role !== 'assistant') return `${at} and only an assistant calls tools; its role is ${role}`;
    if ((type === 'tool-result') !== (role === 'tool'))
      return `${at} and a message has the role "tool" when its parts are tool results; its role is ${role}`;
  }
  return undefined;
}

function isRecordOrAbsent(value: unknown): boolean {
  return value === undefined || (typeof value === 'object' && value !== null && !Array.isArray(value));
}
