import { defined } from '../../contract/defined';
import type { FormField } from '../../contract/form-fields';
import { fieldsOf, fileSchema } from '../../contract/form-fields';
import type { JsonObject } from '../../contract/messages/messages';
import { objectSchema } from '../object-schema';

export interface AskedForm {
  readonly title?: string;
  readonly fields: readonly FormField[];
  readonly schema: JsonObject;
  readonly isObject: boolean;
}

const types = ['text', 'multiline', 'number', 'boolean', 'choice', 'choices', 'date'];

export function inputSchemaOf({ isFixed, files }: { readonly isFixed: boolean; readonly files: boolean }): JsonObject {
  const question = { type: 'string', minLength: 1, maxLength: 4000, description: 'The question, in one or two sentences.' };
  const details = { type: 'string', maxLength: 16_000, description: 'What the person needs to know to answer.' };
  if (isFixed) return objectSchema({ question, details }, ['question']);
  const texts = { type: 'array', minItems: 1, maxItems: 50, items: { type: 'string', minLength: 1, maxLength: 200 } };
  const field = objectSchema(
    {
      name: { type: 'string', minLength: 1, maxLength: 60, description: 'The key of the value in the answer.' },
      label: { type: 'string', minLength: 1, maxLength: 200 },
      type: { type: 'string', enum: [...types, ...(files ? ['file'] : [])] },
      choices: { ...texts, description: 'Of a choice.' },
      required: { type: 'boolean' },
    },
    ['name', 'label', 'type'],
  );
  return objectSchema(
    {
      question,
      details,
      options: { ...texts, description: 'The answers to choose from. Leave it out for a free text.' },
      other: { type: 'boolean', description: 'Whether the person may also write something else than one of the options.' },
      fields: { type: 'array', minItems: 1, maxItems: 30, items: field, description: 'A form, when one answer is not enough.' },
    },
    ['question'],
  );
}

export function askedForm(input: JsonObject, fixed: JsonObject | undefined): AskedForm {
  if (fixed !== undefined) return formOf(fixed);
  const { options, other, fields } = input;
  if (Array.isArray(fields)) return formOf(schemaOfFields(fields as readonly JsonObject[]));
  const choices = Array.isArray(options) ? [...new Set(options as readonly string[])] : undefined;
  const free = { type: 'string', minLength: 1 };
  const schema: JsonObject =
    choices === undefined ? free : other === true ? { ...free, examples: choices } : { type: 'string', enum: choices };
  const field: FormField = {
    ...{ name: 'answer', label: 'Answer', required: true },
    type: choices === undefined || other === true ? 'text' : 'choice',
    ...defined({ choices: choices?.map((value) => ({ value, label: value })) }),
  };
  return { fields: [field], schema, isObject: false };
}

function formOf(schema: JsonObject): AskedForm {
  const { title } = schema;
  return { fields: fieldsOf(schema), schema, isObject: true, ...defined({ title: typeof title === 'string' ? title : undefined }) };
}

function schemaOfFields(fields: readonly JsonObject[]): JsonObject {
  const properties = Object.fromEntries(fields.map((field) => [field['name'] as string, schemaOfField(field)]));
  const required = fields.filter((field) => field['required'] !== false).map((field) => field['name'] as string);
  return objectSchema(properties, [...new Set(required)]);
}

function schemaOfField({ label: title = '', type, choices }: JsonObject): JsonObject {
  const values = Array.isArray(choices) && choices.length > 0 ? { enum: choices } : {};
  switch (type) {
    case 'number':
    case 'boolean':
      return { title, type };
    case 'choice':
      return { title, type: 'string', ...values };
    case 'choices':
      return { title, type: 'array', items: { type: 'string', ...values } };
    case 'date':
    case 'multiline':
      return { title, type: 'string', format: type };
    case 'file':
      return { ...fileSchema, title };
    default:
      return { title, type: 'string' };
  }
}
