import type { CallToolResult, ElicitRequest, ElicitResult, InputRequiredResult } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { Json, JsonObject } from '../../contract/messages/messages';
import { canonicalJson } from '../../contract/messages/messages';
import { misfitsOfSchema } from '../../contract/schema/schema-fit';
import { problemOfForeignSchema } from '../../contract/schema/schema-form';

interface Ask {
  readonly message: string;
  readonly requestedSchema: Json;
}

/** The record of a call whose server asks, kept with the interrupt. */
export interface AskedState {
  /** Forms without an answer, by the server's keys. */
  readonly asks: Readonly<Record<string, Ask>>;
  /** The server's own state (protocol 2026). */
  readonly requestState?: string;
  /** Protocol 2025: earlier forms, whose answers the server gets when the call is made again. */
  readonly answered?: readonly { readonly ask: Ask; readonly answer: ElicitResult }[];
}

export const onlyAsk = 'question';

export class AskRefused extends Error {}

/** Keeps only what a form has by the protocol: flat fields, without references and patterns. */
export function askOf(params: unknown): Ask {
  if ((params as { readonly requestedSchema?: Json }).requestedSchema === undefined)
    throw new AskRefused('The server asks with a page of its own. Holdfast asks only with forms.');
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- loaded late, as the connection
  const { specTypeSchemas } = require('@modelcontextprotocol/client') as typeof import('@modelcontextprotocol/client');
  const form = specTypeSchemas.ElicitRequestFormParams['~standard'].validate(params);
  if (form.issues !== undefined)
    throw new AskRefused('The form of the server is refused: its fields are not only texts, numbers, booleans and choices.');
  const { type, properties, required = [] } = form.value.requestedSchema;
  const requestedSchema = { type, properties, required } as unknown as Json;
  const problem = problemOfForeignSchema(requestedSchema);
  if (problem !== undefined) throw new AskRefused(`The form of the server is refused: ${problem}.`);
  return { message: form.value.message, requestedSchema };
}

export function isAsking(result: CallToolResult | InputRequiredResult): result is InputRequiredResult {
  return result.resultType === 'input_required';
}

export function stateOf({ inputRequests = {}, requestState }: InputRequiredResult): AskedState {
  const asks = Object.entries(inputRequests).map(([key, request]) => {
    if (request.method !== 'elicitation/create') throw new AskRefused(`The server asks for ${request.method}, which Holdfast does not do.`);
    return [key, askOf(request.params)] as const;
  });
  return { asks: Object.fromEntries(asks), ...(requestState === undefined ? {} : { requestState }) };
}

export function knownAnswer({ answered = [] }: AskedState, params: ElicitRequest['params']): ElicitResult | undefined {
  const text = canonicalJson(askOf(params));
  return answered.find(({ ask }) => canonicalJson(ask as unknown as Json) === text)?.answer;
}

export function questionOf(
  server: string,
  tool: string,
  { asks }: AskedState,
  problem?: string,
): { info: JsonObject; answerSchema: z.ZodType } {
  const entries = Object.entries(asks);
  const said = problem === undefined ? {} : { problem };
  const [first] = entries;
  if (entries.length === 1 && first !== undefined) {
    const [, { message, requestedSchema }] = first;
    return { info: { question: message, server, tool, ...said }, answerSchema: asSchema(formOf(requestedSchema)) };
  }
  const questions = Object.fromEntries(entries.map(([key, { message }]) => [key, message]));
  const properties = Object.fromEntries(entries.map(([key, { requestedSchema }]) => [key, formOf(requestedSchema)]));
  const schema = { type: 'object', properties, required: Object.keys(asks), additionalProperties: false };
  return { info: { questions, server, tool, ...said }, answerSchema: asSchema(schema) };
}

function formOf(requestedSchema: Json): JsonObject {
  return {
    type: 'object',
    properties: { action: { type: 'string', enum: ['accept', 'decline'] }, content: requestedSchema },
    required: ['action'],
    additionalProperties: false,
  };
}

function asSchema(schema: JsonObject): z.ZodType {
  return z.unknown().meta(schema);
}

export function answersTo(
  { asks }: AskedState,
  answer: unknown,
): { readonly answers: Readonly<Record<string, ElicitResult>> } | { readonly problem: string } {
  const keys = Object.keys(asks);
  const given = (keys.length === 1 ? { [keys[0] ?? '']: answer } : answer) as Record<string, ElicitResult>;
  for (const [key, { requestedSchema }] of Object.entries(asks)) {
    const { action, content = {} } = given[key] ?? { action: 'decline' };
    if (action !== 'accept') continue;
    const misfits = misfitsOfSchema(requestedSchema, content);
    if (misfits.length > 0) return { problem: `The answer does not fit: ${misfits.join('; ')}` };
  }
  return {
    answers: Object.fromEntries(
      keys.map((key) => {
        const { action, content = {} } = given[key] ?? { action: 'decline' };
        return [key, action === 'accept' ? { action, content } : { action: 'decline' as const }];
      }),
    ),
  };
}
