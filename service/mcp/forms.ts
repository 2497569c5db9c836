import { isRecord } from '../../contract/check';
import type { Interrupt } from '../../contract/interrupts';
import type { Json, JsonObject } from '../../contract/messages/messages';
import { decisionOf, questionOf } from '../projection/answers';
import { textOfJson } from '../projection/content';
import { answerInWords, wordsOf } from '../responses/answers';
import { HoldfastError } from '../../contract/errors';

/** An elicitation with a flat form, as the protocol demands. */
export interface ElicitationForm {
  readonly method: 'elicitation/create';
  readonly params: { readonly mode: 'form'; readonly message: string; readonly requestedSchema: JsonObject };
}

const comment: Json = { type: 'string', title: 'Comment', description: 'The reason, for the record.' };
const text: Json = { type: 'string', title: 'Answer' };

export function formOf(interrupt: Interrupt, misfit?: string): ElicitationForm {
  const message = [...(misfit === undefined ? [] : [misfit]), messageOf(interrupt)].join('\n\n');
  return { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema: schemaOf(interrupt) } };
}

function messageOf(interrupt: Interrupt): string {
  if (interrupt.kind === 'in-doubt') return questionOf(interrupt);
  if (interrupt.kind !== 'approval') return wordsOf(interrupt);
  const { tool, input, policy } = interrupt;
  const stage = policy === undefined ? [] : [`Policy ${policy.name}, stage ${policy.stage.number} of ${policy.stage.of}.`];
  return [questionOf(interrupt), `${tool} ${textOfJson(input)}`, ...stage].join('\n\n');
}

function schemaOf(interrupt: Interrupt): JsonObject {
  if (interrupt.kind === 'approval')
    return { type: 'object', properties: { approved: { type: 'boolean', title: 'Approve' }, comment }, required: ['approved'] };
  if (interrupt.kind === 'in-doubt') {
    const result: Json = { type: 'string', title: 'Result', description: 'The result of the call as JSON, if it happened.' };
    return { type: 'object', properties: { happened: { type: 'boolean', title: 'It happened' }, result }, required: ['happened'] };
  }
  const { answerSchema } = interrupt;
  if (isFlat(answerSchema)) return plain(answerSchema);
  return { type: 'object', properties: { answer: isField(answerSchema) ? plain(answerSchema) : text }, required: ['answer'] };
}

/** Undefined: the question stays open, because only an approval can be declined. */
export function answerOfForm(interrupt: Interrupt, given: unknown): Json | undefined {
  const { action, content } = isRecord(given) ? given : {};
  if (action !== 'accept') return interrupt.kind === 'approval' && isEnd(action) ? decisionOf(false, undefined) : undefined;
  const fields = isRecord(content) ? (content as JsonObject) : {};
  if (interrupt.kind === 'approval') return approvalIn(interrupt.id, fields);
  if (interrupt.kind === 'in-doubt')
    return fields['happened'] === true ? { happened: true, result: jsonIn(fields['result']) } : { happened: false };
  const { answerSchema, id } = interrupt;
  if (isFlat(answerSchema)) return fields;
  const { answer } = fields;
  if (answer === undefined) throw new HoldfastError('answer-invalid', `The answer to "${id}" lacks the field \`answer\`.`);
  if (typeof answer !== 'string') return answer;
  const words = answerInWords(interrupt, answer);
  if ('misfit' in words) throw new HoldfastError('answer-invalid', `The answer to "${id}" does not fit: ${words.misfit}.`);
  return words.answer;
}

function approvalIn(id: string, { approved, comment: said }: JsonObject): Json {
  if (typeof approved !== 'boolean') throw new HoldfastError('answer-invalid', `The answer to "${id}" lacks \`approved\`: true or false.`);
  return decisionOf(approved, typeof said === 'string' && said !== '' ? said : undefined);
}

/** A person who closes the form has decided, or clients would ask for ever. */
function isEnd(action: unknown): boolean {
  return action === 'decline' || action === 'cancel';
}

export function jsonIn(said: Json | undefined): Json {
  if (typeof said !== 'string') return said ?? null;
  try {
    return JSON.parse(said) as Json;
  } catch {
    return said;
  }
}

function isFlat(schema: Json | undefined): schema is JsonObject {
  if (!isRecord(schema) || schema['type'] !== 'object') return false;
  const { properties } = schema;
  return isRecord(properties) && Object.keys(properties).length > 0 && Object.values(properties).every(isField);
}

const primitives: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean']);

function isField(schema: unknown): schema is JsonObject {
  return isRecord(schema) && primitives.has(schema['type']);
}

const known = ['type', 'title', 'description', 'enum', 'minimum', 'maximum', 'minLength', 'maxLength'];

/** Leaves out keywords that the schema of a form does not have. The run checks the whole schema. */
function plain(schema: JsonObject): JsonObject {
  const { type, properties, required } = schema;
  if (type === 'object' && isRecord(properties)) {
    const fields = Object.entries(properties).map(([name, field]) => [name, plain(field as JsonObject)]);
    return { type, properties: Object.fromEntries(fields) as JsonObject, ...(required === undefined ? {} : { required }) };
  }
  return Object.fromEntries(Object.entries(schema).filter(([key]) => known.includes(key)));
}
