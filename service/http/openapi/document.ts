import type { Hono } from 'hono';
import { z } from 'zod';
import type { ToldAnswer, ToldOperation } from '../routes';
import { operationsOf } from '../routes';
import type { Answers } from './answers';
import told from './answers.json';

type Schema = Record<string, unknown>;

export interface OpenApi {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Schema>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const paths: Readonly<Record<string, string>> = {
  id: 'The id of the run, batch or conversation.',
  interruptId: 'The id of the interrupt.',
  message: 'The id of the message.',
  name: 'The name of the policy, trigger or schedule.',
  delivery: 'The id of the delivery.',
  agent: 'The name of the agent.',
  chat: 'The id of the chat.',
  model: 'The name of the agent.',
};

const answers: Readonly<Record<keyof Answers, Schema>> = told.answers;

export function openApiOf(version: string, app: Hono): OpenApi {
  const schemas: Record<string, Schema> = { ...told.schemas };
  const byPath: Record<string, Record<string, Schema>> = {};
  for (const [route, operation] of Object.entries(operationsOf(app))) {
    const [method = '', path = ''] = route.split(' ');
    if (operation !== undefined)
      (byPath[path.replace(/:(\w+)/g, '{$1}')] ??= {})[method.toLowerCase()] = shownOperation(route, path, operation, schemas);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Holdfast', version, description: 'Starts, follows, answers and lists agent runs.' },
    paths: byPath,
    components: { schemas },
  };
}

function shownOperation(route: string, path: string, operation: ToldOperation, schemas: Record<string, Schema>): Schema {
  const { group, summary, body = operation.ownBody, bodyType = 'application/json', query, headers = {} } = operation;
  const parameters = [
    ...pathParameters(path),
    ...(query === undefined ? [] : queryParameters(query, schemas)),
    ...Object.entries(headers).map(([name, description]) => ({
      name,
      in: 'header',
      required: false,
      description,
      schema: { type: 'string' },
    })),
  ];
  return {
    operationId: operationIdOf(route),
    tags: [group],
    summary,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: { [bodyType]: { schema: schemaOf(body, schemas) } } } }),
    responses: {
      ...Object.fromEntries(Object.entries(operation.answers).map(([status, answer]) => [status, shownAnswer(answer)])),
      default: problemOf(path),
    },
  };
}

/** Clients of OpenAI read errors of another form. */
function problemOf(path: string): Schema {
  const [type, name] = /^\/v1\/(?!triggers)/.test(path)
    ? (['application/json', 'OpenAiError'] as const)
    : (['application/problem+json', 'Problem'] as const);
  return { description: 'A problem, with a stable code.', content: { [type]: { schema: answers[name] } } };
}

function operationIdOf(route: string): string {
  const [method = '', ...words] = route.split(/\W+/).filter((word) => word !== '');
  const name = [method.toLowerCase(), ...words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join('');
  return route.endsWith('/') ? `${name}Slash` : name;
}

function shownAnswer({ says, name, type }: ToldAnswer): Schema {
  const content = {
    ...(name === undefined ? {} : { 'application/json': { schema: answers[name] } }),
    ...(type === undefined ? {} : { [type]: { schema: { type: 'string' } } }),
  };
  return Object.keys(content).length === 0 ? { description: says } : { description: says, content };
}

function pathParameters(path: string): readonly Schema[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: paths[name] ?? name,
    schema: { type: 'string' },
  }));
}

function queryParameters(query: z.ZodType, schemas: Record<string, Schema>): readonly Schema[] {
  const { properties = {}, required = [] } = schemaOf(query, schemas) as {
    readonly properties?: Record<string, Schema>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', required: required.includes(name), schema }));
}

function schemaOf(schema: z.ZodType, schemas: Record<string, Schema>): Schema {
  const {
    $schema: _,
    $defs = {},
    ...made
  } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema & {
    readonly $defs?: Record<string, Schema>;
  };
  for (const [name, part] of Object.entries($defs)) schemas[name] ??= withReferences(part);
  const { id, ...rest } = withReferences(made);
  if (typeof id !== 'string') return rest;
  schemas[id] ??= rest;
  return { $ref: `#/components/schemas/${id}` };
}

function withReferences(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as Schema;
}
