import type { Ajv, ErrorObject, Format, ValidateFunction } from 'ajv';
import { z } from 'zod';
import { messageOf } from '../contract/errors';
import type { Json } from '../contract/messages/messages';
import { NotChecked, patternOf } from './linear-pattern';

export interface Issue {
  readonly path?: readonly unknown[] | undefined;
  readonly message: string;
}

export type JsonSchemaCheck = (value: unknown) => readonly Issue[];

/** Compiles a JSON Schema of 2020-12 or draft 7. The check writes defaults into the value. */
export function compiledJsonSchema(schema: Json, refuse: (problem: string) => never, withFormats = false): JsonSchemaCheck {
  const validate = compiled(schema, refuse, withFormats);
  return (value) => {
    try {
      return validate(value) ? [] : (validate.errors ?? []).filter(isTelling).map(issueOf);
    } catch (error) {
      if (error instanceof NotChecked) return [{ path: [], message: error.message }];
      throw error;
    }
  };
}

function compiled(schema: Json, refuse: (problem: string) => never, withFormats: boolean): ValidateFunction {
  const problems: unknown[] = [];
  for (const draft of ['2020', '7'] as const) {
    try {
      const validate = ajvOf(draft, withFormats).compile(
        typeof schema === 'boolean' ? schema : { $id: 'holdfast:schema', ...(schema as object) },
      );
      if (!('$async' in validate)) return validate;
      problems.push(new Error('asynchronous ones ($async) are not taken'));
    } catch (error) {
      problems.push(error);
    }
  }
  return refuse(`it is no valid JSON Schema: ${messageOf(problems[0])}.`);
}

let made: Record<string, Ajv> = {};
let compilations = 0;
/** An instance of ajv keeps all compiled schemas. */
const mostCompilations = 1000;

function ajvOf(draft: '2020' | '7', withFormats: boolean): Ajv {
  if (++compilations % mostCompilations === 0) made = {};
  return (made[`${draft} ${withFormats}`] ??= newAjv(draft, withFormats));
}

function newAjv(draft: '2020' | '7', withFormats: boolean): Ajv {
  const Kind = loaded(draft);
  return new Kind({
    strict: false,
    // Ajv copies its errors for every failing reference: 100,000 wrong items would take a minute.
    allErrors: !withFormats,
    useDefaults: true,
    validateFormats: withFormats,
    formats: withFormats ? formatsOfZod() : {},
    addUsedSchema: false,
    logger: false,
    code: { regExp: Object.assign((source: string) => patternOf(source), { code: 'patternOf' }) },
  });
}

/** Ajv loads slowly, so only with the first schema. */
function loaded(draft: '2020' | '7'): typeof Ajv {
  /* eslint-disable @typescript-eslint/no-require-imports */
  return draft === '2020'
    ? (require('ajv/dist/2020') as typeof import('ajv/dist/2020')).Ajv2020
    : (require('ajv') as typeof import('ajv')).Ajv;
  /* eslint-enable @typescript-eslint/no-require-imports */
}

const mostIssues = 20;

export function issueList(issues: readonly Issue[], root: string): string {
  const lines = issues.slice(0, mostIssues).map(({ path = [], message }) => `${path.map(segmentOf).join('.') || root}: ${message}`);
  const more = issues.length - lines.length;
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

function segmentOf(segment: unknown): string {
  return String(typeof segment === 'object' && segment !== null ? (segment as { key?: unknown }).key : segment);
}

function isTelling({ keyword }: ErrorObject): boolean {
  return keyword !== 'if';
}

function issueOf({ instancePath, keyword, params, message = 'does not fit' }: ErrorObject): Issue {
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

/** The formats that zod checks. Unknown formats allow any text. */
function formatsOfZod(): Record<string, Format> {
  const words = ['email', 'hostname', 'mac', 'base64', 'base64url', 'e164', 'iban', 'jwt', 'emoji'] as const;
  const ids = ['ipv4', 'ipv6', 'uuid', 'nanoid', 'cuid', 'cuid2', 'ulid', 'xid', 'ksuid'] as const;
  const schemas: Record<string, z.ZodType> = {
    ...Object.fromEntries([...words, ...ids].map((name) => [name, (z[name] as () => z.ZodType)()])),
    guid: z.uuid(),
    uri: z.url(),
    'date-time': z.iso.datetime({ offset: true }),
    date: z.iso.date(),
    duration: z.iso.duration(),
    cidr: z.cidrv4(),
    'cidr-v6': z.cidrv6(),
    credit_card: z.creditCard(),
  };
  return {
    ...Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, (text: string) => schema.safeParse(text).success])),
    time: (text) => schemas['date-time']?.safeParse(`2026-01-31T${text}`).success === true,
    'uri-reference': (text) => URL.canParse(text, 'https://example.com'),
  };
}
