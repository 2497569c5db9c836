import { shown } from '../../contract/shown';
import type { Form, Forms } from '../../contract/check';
import { anything, checkFields, flag, form, isRecord, isString, record, refusing, sentence, worded } from '../../contract/check';
import { defined } from '../../contract/defined';
import { randomBytes } from 'node:crypto';
import { HoldfastError } from '../../contract/errors';
import { jsonSize, limits } from '../../contract/limits';
import { personName } from '../../contract/people';
import type { Json, Message, ModelSettings } from '../../contract/messages/messages';
import { isAnyMessage, messagesOf } from '../../contract/messages/message-shapes';
import { isMessage, notJson } from '../../contract/messages/messages';
import { isName, isRunId } from '../../contract/names';
import { settingsProblem } from '../../contract/model-settings';
import type { RunOptions } from '../../contract/run-options';
import { runOptionsProblem, tagsProblem } from '../../contract/run-options';
import type { StartInput } from '../../contract/record/wire';

export interface StartOptions {
  /** A repeated id is the same run, also after the end, as long as the server keeps it. */
  readonly id?: string;
  readonly values?: Readonly<Record<string, Json>>;
  readonly model?: string;
  readonly settings?: ModelSettings;
  /** Whether models and tools stream. Default: true. */
  readonly stream?: boolean;
  /** Whether tool calls at the end of the input run before the model. Default: the run fails. */
  readonly runPendingToolCalls?: boolean;
  /** The longest time of the whole run, such as '30d'. */
  readonly deadline?: string;
  readonly startDelay?: string;
  readonly tags?: readonly string[];
  /** Tools, aliases and tool options of this run, for all agents or by agent. */
  readonly options?: RunOptions;
  /** The name of the starter. */
  readonly by?: string;
}

export function startInputOf(
  { tenant, agent, externalStorage }: Pick<StartInput, 'tenant' | 'agent' | 'externalStorage'>,
  input: unknown,
  options: StartOptions,
): StartInput {
  checkStart(options);
  const { id = `run-${randomBytes(6).toString('hex')}` } = options;
  if (!isRunId(id)) throw new HoldfastError('run-id-invalid', `${shown(id)} is no id for a run.`);
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
    ...(externalStorage === true ? { externalStorage } : {}),
    ...(options.runPendingToolCalls === true ? { runPendingToolCalls: true } : {}),
  };
  const problem = notJson(start);
  if (problem !== undefined) throw new HoldfastError('input-invalid', `The input is not JSON: ${problem}.`);
  const bytes = jsonSize(start);
  if (bytes > limits.runInput) throw new HoldfastError('input-too-large', `The input has ${bytes} bytes; at most ${limits.runInput} fit.`);
  return start;
}

const given = (wanted: string): Form => form((value) => isString(value) && value !== '', wanted);

const forms: Forms<StartOptions> = {
  id: anything,
  values: worded(record, 'an object with the values'),
  model: given('the name of a model'),
  settings: worded(record, 'an object such as { temperature: 0 }'),
  stream: flag,
  runPendingToolCalls: flag,
  deadline: given('a duration such as "30d"'),
  startDelay: given('a duration such as "1h"'),
  tags: anything,
  options: record,
  by: personName,
};

function checkStart(options: unknown): void {
  const refuse = refusing('The options of the start', 'input-invalid');
  if (!isRecord(options)) return refuse(`they must be an object, not ${shown(options)}.`);
  checkFields(options, forms, refuse);
  const unfit = options['settings'] === undefined ? undefined : settingsProblem(options['settings']);
  if (unfit !== undefined) throw new HoldfastError('options-invalid', `The settings of the start: ${sentence(unfit)}`);
  const problem = options['options'] === undefined ? undefined : runOptionsProblem(options['options']);
  if (problem !== undefined) throw new HoldfastError('options-invalid', `The options of the start: ${sentence(problem)}`);
  const wrong = options['tags'] === undefined ? undefined : tagsProblem(options['tags']);
  if (wrong !== undefined) throw new HoldfastError('input-invalid', wrong);
}

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
    return messagesOf(input) as readonly object[] as Json;
  }
  for (const [position, message] of (Array.isArray(input) && input.every(isMessage) ? input : []).entries()) {
    const problem = messageProblem(message);
    if (problem !== undefined) throw new HoldfastError('input-invalid', `Message ${position + 1} of the input ${problem}.`);
  }
  return input as Json;
}

function messageProblem({ role, parts, extra }: Message): string | undefined {
  if (!isAbsentOrRecord(extra)) return 'has an `extra` that is no object';
  for (const [position, part] of parts.entries()) {
    const { type } = part;
    const at = `has a part ${position + 1}, ${type},`;
    if (!isAbsentOrRecord((part as { extra?: unknown }).extra)) return `${at} with an \`extra\` that is no object`;
    if (type === 'file' && typeof part.data !== 'string' && typeof (part.data as { url?: unknown } | null)?.url !== 'string')
      return `${at} whose \`data\` is neither base64 nor { "url": "…" }`;
    if (type === 'tool-call' && role !== 'assistant') return `${at} and only an assistant calls tools; its role is ${role}`;
    if ((type === 'tool-result') !== (role === 'tool'))
      return `${at} and a message has the role "tool" when its parts are tool results; its role is ${role}`;
  }
  return undefined;
}

function isAbsentOrRecord(value: unknown): boolean {
  return value === undefined || isRecord(value);
}
