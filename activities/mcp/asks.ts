import type { CallToolResult, ElicitRequest, ElicitResult, InputRequiredResult } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { Json, JsonObject } from '../../contract/messages/messages';
import { canonicalJson } from '../../contract/messages/messages';
import { readSchema } from '../schemas/schema';

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

export function askOf(params: unknown): Ask {
  const { message, requestedSchema } = params as { readonly message: string; readonly requestedSchema?: Json };
  if (requestedSchema === undefined) throw new Error('The server asks with a page of its own. Holdfast asks only with forms.');
  return { message, requestedSchema };
}

export function isAsking(result: CallToolResult | InputRequiredResult): result is InputRequiredResult {
  return result.resultType === 'input_required';
}

export function stateOf({ inputRequests = {}, requestState }: InputRequiredResult): AskedState {
  const asks = Object.entries(inputRequests).map(([key, request]) => {
    if (request.method !== 'elicitation/create') throw new Error(`The server asks for ${request.method}, which Holdfast does not do.`);
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

/** Undefined: the answers do not fit, with the problem. */
export async function answersTo(
  { asks }: AskedState,
  answer: unknown,
): Promise<{ readonly answers: Readonly<Record<string, ElicitResult>> } | { readonly problem: string }> {
  const keys = Object.keys(asks);
  const given = (keys.length === 1 ? { [keys[0] ?? '']: answer } : answer) as Record<string, ElicitResult>;
  for (const [key, { requestedSchema }] of Object.entries(asks)) {
    const { action, content = {} } = given[key] ?? { action: 'decline' };
    if (action !== 'accept') continue;
    const refuse = (problem: string): never => {
      throw new Error(`The form of the server is refused: ${problem}`);
    };
    const parsed = await readSchema(requestedSchema, 'content', refuse).parse(content);
    if (!parsed.ok) return { problem: `The answer does not fit: ${parsed.message}` };
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
