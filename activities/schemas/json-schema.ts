import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import type { Json } from '../../contract/messages/messages';
import { messageOf } from '../../contract/errors';
import { inTime } from '../../host/in-time';

export interface JsonSchemaIssue {
  readonly path: readonly string[];
  readonly message: string;
}

/** Compiles a JSON Schema: 2020-12, and where it is none of those draft 7. What it gives fills defaults into the value that it checks. */
export function compiledJsonSchema(schema: Json, refuse: (problem: string) => never): (value: unknown) => readonly JsonSchemaIssue[] {
  const validate = compiled(schema, refuse);
  const issues = (value: unknown): readonly JsonSchemaIssue[] =>
    validate(value) ? [] : (validate.errors ?? []).filter(isTelling).map(issueOf);
  if (!/"pattern(Properties)?":/.test(JSON.stringify(schema))) return issues;
  return (value) => inTime(() => issues(value), longestCheckMs) ?? [tooSlow];
}

/** A pattern can take for ever with a text that was made for it, or that a model happened to write, and would hold the whole worker. */
const longestCheckMs = 1000;
const tooSlow: JsonSchemaIssue = {
  path: [],
  message: `takes more than ${longestCheckMs} ms to check: a pattern of the schema is too slow for it`,
};

function compiled(schema: Json, refuse: (problem: string) => never): ValidateFunction {
  const problems: unknown[] = [];
  for (const draft of ['2020', '7'] as const) {
    try {
      const validate = ajvOf(draft).compile(schema as object);
      if (!('$async' in validate)) return validate;
      problems.push(new Error('asynchronous ones ($async) are not taken'));
    } catch (error) {
      problems.push(error);
    }
  }
  return refuse(`it is no valid JSON Schema: ${messageOf(problems[0])}.`);
}

const made: { '2020'?: Ajv; '7'?: Ajv } = {};

function ajvOf(draft: '2020' | '7'): Ajv {
  made[draft] ??= new (loaded(draft))({
    strict: false,
    allErrors: true,
    useDefaults: true,
    validateFormats: false,
    addUsedSchema: false,
    logger: false,
  });
  return made[draft];
}

/** Loaded when the first JSON Schema comes: it takes longer than all else that reads schemas. */
function loaded(draft: '2020' | '7'): typeof Ajv {
  /* eslint-disable @typescript-eslint/no-require-imports */
  return draft === '2020'
    ? (require('ajv/dist/2020') as typeof import('ajv/dist/2020')).Ajv2020
    : (require('ajv') as typeof import('ajv')).Ajv;
  /* eslint-enable @typescript-eslint/no-require-imports */
}

/** `if` only says that something in `then` or `else` is wrong, which stands beside it. */
function isTelling({ keyword }: ErrorObject): boolean {
  return keyword !== 'if';
}

function issueOf({ instancePath, keyword, params, message = 'does not fit' }: ErrorObject): JsonSchemaIssue {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
  const { missingProperty, additionalProperty, allowedValues, allowedValue } = params as Record<string, unknown>;
  switch (keyword) {
    case 'required':
      return { path: [...path, String(missingProperty)], message: 'is required' };
    case 'additionalProperties':
      return { path: [...path, String(additionalProperty)], message: 'is not known' };
    case 'enum':
      return { path, message: `must be one of ${JSON.stringify(allowedValues)}` };
    case 'const':
      return { path, message: `must be ${JSON.stringify(allowedValue)}` };
    default:
      return { path, message };
  }
}
