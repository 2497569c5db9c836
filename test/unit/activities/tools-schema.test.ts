import { jsonSchema, lazySchema, zodSchema } from '@ai-sdk/provider-utils';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { readSchema } from '../../../activities/schemas/schema';

const refuse = (problem: string): never => {
  throw new Error(problem);
};
const read = (schema: unknown) => readSchema(schema, 'input', refuse);

const order = {
  type: 'object',
  properties: {
    id: { type: 'string', format: 'uuid' },
    amount: { type: 'number', default: 1 },
    lines: { type: 'array', items: { type: 'object', properties: { sku: { type: 'string' } }, required: ['sku'] } },
    size: { enum: ['s', 'm'] },
    unit: { const: 'cm' },
  },
  required: ['id'],
  additionalProperties: false,
};

describe.each<[string, unknown]>([
  ['zod', z.object({ id: z.string(), amount: z.number().default(1), lines: z.array(z.object({ sku: z.string() })).optional() })],
  [
    'the AI SDK, around zod',
    zodSchema(z.object({ id: z.string(), amount: z.number().default(1), lines: z.array(z.object({ sku: z.string() })).optional() })),
  ],
  ['the AI SDK, made when it is needed', lazySchema(() => jsonSchema(order as never))],
  ['the AI SDK, as JSON without a check', jsonSchema(order as never)],
  ['the AI SDK, as a promise', jsonSchema(Promise.resolve(order) as never)],
  ['JSON', order],
  ['JSON with a draft', { ...order, $schema: 'http://json-schema.org/draft-07/schema#' }],
])('a schema of %s', (_, schema) => {
  it('tells its JSON, without a draft', async () => {
    const reader = read(schema);
    await reader.ready;
    expect(reader.json).toMatchObject({ type: 'object', properties: { id: { type: 'string' } }, required: ['id'] });
    expect(reader.json).not.toHaveProperty('$schema');
  });

  it('fills defaults in and leaves what it was given as it is', async () => {
    const value = { id: 'a' };
    expect(await read(schema).parse(value)).toEqual({ ok: true, value: { id: 'a', amount: 1 } });
    expect(value).toEqual({ id: 'a' });
  });

  it('names every place that does not fit', async () => {
    const parsed = (await read(schema).parse({ amount: 'x', lines: [{ sku: 'a' }, { sku: 1 }] })) as { message: string };
    const places = parsed.message.split('; ').map((line) => line.split(':')[0]);
    expect(new Set(places)).toEqual(new Set(['id', 'amount', 'lines.1.sku']));
  });

  it('names the root', async () => {
    expect(await read(schema).parse('text')).toMatchObject({ ok: false, message: expect.stringMatching(/^input: /) });
  });
});

describe('a JSON Schema', () => {
  it('says what is too much, what is missing and what would do', async () => {
    const parsed = (await read(order).parse({ more: 1, size: 'xl', unit: 'in', lines: [{}] })) as { message: string };
    expect(parsed.message.split('; ').sort()).toEqual(
      ['id: is required', 'more: is not known', 'size: must be one of ["s","m"]', 'unit: must be "cm"', 'lines.0.sku: is required'].sort(),
    );
  });

  it('may be of draft 2020-12 or of draft 7, also unsaid', async () => {
    const tuple2020 = { type: 'array', prefixItems: [{ type: 'string' }], items: false };
    const tuple7 = { type: 'array', items: [{ type: 'string' }], additionalItems: false };
    for (const schema of [tuple2020, tuple7]) {
      expect(await read(schema).parse(['a'])).toMatchObject({ ok: true });
      expect(await read(schema).parse(['a', 'b'])).toMatchObject({ ok: false });
      expect(await read(schema).parse([1])).toMatchObject({ ok: false, message: '0: must be string' });
    }
  });

  it('may refer to its own definitions, and share an id with another one', async () => {
    const node = (type: string) => ({
      $id: 'node',
      $defs: { leaf: { type } },
      type: 'object',
      properties: { value: { $ref: '#/$defs/leaf' } },
    });
    expect(await read(node('string')).parse({ value: 1 })).toEqual({ ok: false, message: 'value: must be string' });
    expect(await read(node('number')).parse({ value: 1 })).toMatchObject({ ok: true });
    expect(await read({ type: ['array', 'null'], items: { $ref: '#' } }).parse([[1]])).toMatchObject({ ok: false });
  });

  it('is right about a pattern that would take JavaScript for ever with what the model wrote', async () => {
    const slow = read({ type: 'object', properties: { code: { type: 'string', pattern: '^(a+)+$' } } });
    expect(await slow.parse({ code: 'aaa' })).toMatchObject({ ok: true });
    expect(await slow.parse({ code: 'abc' })).toMatchObject({ ok: false, message: expect.stringMatching(/^code: must match pattern/) });
    expect(await slow.parse({ code: `${'a'.repeat(50_000)}!` })).toEqual({ ok: false, message: 'code: must match pattern "^(a+)+$"' });
    const ahead = read({ type: 'string', pattern: '^(?!b)' });
    expect(await ahead.parse('a'.repeat(1000))).toMatchObject({ ok: true });
    expect(await ahead.parse('a'.repeat(1001))).toEqual({ ok: false, message: expect.stringMatching(/^input: a text of 1001 characters/) });
  });

  it('ends a long list of faults', async () => {
    const { message } = (await read({ type: 'array', items: { type: 'string' } }).parse(Array.from({ length: 30 }, () => 1))) as {
      message: string;
    };
    expect(message.split('; ')).toHaveLength(21);
    expect(message).toMatch(/; and 10 more$/);
  });
});

it('a schema that throws says no, and why', async () => {
  const throwing = z.string().refine(() => {
    throw new Error('no database');
  });
  expect(await read(throwing).parse('x')).toEqual({ ok: false, message: 'the schema failed: no database' });
  const validating = jsonSchema({ type: 'string' }, { validate: () => ({ success: false, error: new Error('too loud') }) });
  expect(await read(validating).parse('X')).toEqual({ ok: false, message: 'input: too loud' });
});

it('an asynchronous check and a transformation count', async () => {
  const schema = z.string().transform(async (text) => text.length);
  expect(await read(schema).parse('four')).toEqual({ ok: true, value: 4 });
});

it('a standard schema that tells its JSON Schema is taken', async () => {
  const standard = {
    '~standard': {
      version: 1,
      vendor: 'other',
      validate: async (value: unknown) => (value === 1 ? { value: 'one' } : { issues: [{ message: 'is not 1', path: [{ key: 'a' }, 0] }] }),
      jsonSchema: { input: () => ({ type: 'number' }) },
    },
  };
  expect(read(standard).json).toEqual({ type: 'number' });
  expect(await read(standard).parse(1)).toEqual({ ok: true, value: 'one' });
  expect(await read(standard).parse(2)).toEqual({ ok: false, message: 'a.0: is not 1' });
});

describe('refused, with what to do:', () => {
  it.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /there is none; use a zod 4 schema/],
    ['a text', 'string', /it is no schema; use a zod 4 schema/],
    ['a list', [], /it is no schema/],
    ['an object without a keyword', {}, /no keyword of a JSON Schema/],
    ['an object of zod schemas', { city: z.string() }, /put it into z\.object/],
    ['zod 3', z3.object({}), /zod 3; use zod 4/],
    ['a standard schema', { '~standard': { version: 1, vendor: 'valibot', validate: () => ({ value: 1 }) } }, /valibot do not tell/],
    ['a class', { type: 'object', properties: new Map() }, /it is no JSON Schema \(properties is a Map\)/],
    ['a type that there is not', { type: 'strng' }, /no valid JSON Schema: schema is invalid: data\/type/],
    ['a reference to elsewhere', { $ref: 'https://example.com/x.json' }, /can't resolve reference/],
    ['an asynchronous one', { $async: true, type: 'object' }, /asynchronous/],
    ['a maker that throws', () => refuse('not today'), /cannot be made: not today/],
  ])('%s', (_, schema, message) => {
    expect(() => read(schema)).toThrow(message);
  });

  it('a promise that fails', async () => {
    const failing = jsonSchema(Promise.reject(new Error('offline')));
    await expect(read(failing).ready).rejects.toThrow('its JSON Schema cannot be made: offline');
  });
});
