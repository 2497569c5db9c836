import { z } from 'zod';
import type { Json } from '../../../contract/messages/messages';
import { misfitOfSchema, misfitsOfSchema } from '../../../contract/schema/schema-fit';

const told = (schema: z.ZodType): Json => z.toJSONSchema(schema) as Json;

const order = told(
  z.strictObject({
    id: z.string().min(2).max(4),
    count: z.int().min(1).max(9),
    size: z.enum(['s', 'm']),
    tags: z.array(z.string()).max(2).optional(),
    pair: z.tuple([z.string(), z.number()]).optional(),
    pay: z.union([z.object({ card: z.string() }), z.object({ cash: z.literal(true) })]).optional(),
    more: z.record(z.string(), z.number()).optional(),
    note: z.string().nullable().optional(),
  }),
);
const good = { id: 'abc', count: 1, size: 's' };

describe('an answer and the schema that it is to fit', () => {
  it.each<Json>([
    good,
    { ...good, tags: ['a', 'b'], pair: ['a', 1], pay: { cash: true }, more: { x: 1 }, note: null },
    { ...good, pay: { card: '1' } },
  ])('fits: %j', (answer) => expect(misfitOfSchema(order, answer)).toBeUndefined());

  it.each<[Json, string]>([
    ['text', 'it is no object'],
    [[], 'it is no object'],
    [null, 'it is no object'],
    [{}, 'id is missing'],
    [{ ...good, id: 'a' }, 'id has 1 characters, at least 2 are wanted'],
    [{ ...good, id: 'abcde' }, 'id has 5 characters, at most 4 are wanted'],
    [{ ...good, id: 5 }, 'id is no string'],
    [{ ...good, count: 1.5 }, 'count is no integer'],
    [{ ...good, count: 0 }, 'count is less than 1'],
    [{ ...good, count: 10 }, 'count is more than 9'],
    [{ ...good, size: 'xl' }, 'size is none of ["s","m"]'],
    [{ ...good, tags: ['a', 1] }, 'tags.1 is no string'],
    [{ ...good, tags: ['a', 'b', 'c'] }, 'tags has 3 items, at most 2 are wanted'],
    [{ ...good, pair: ['a', 'b'] }, 'pair.1 is no number'],
    [{ ...good, more: { x: 'a' } }, 'more.x is no number'],
    [{ ...good, extra: 1 }, expect.stringMatching(/^extra is not wanted; there is id, count, /)],
    [{ ...good, pay: {} }, 'pay is nothing of what is wanted (pay.card is missing; pay.cash is missing)'],
  ])('does not fit: %j', (answer, misfit) => expect(misfitOfSchema(order, answer)).toEqual(misfit));

  it('is not taken for fitting because of a name that all objects have', () => {
    expect(misfitOfSchema(told(z.object({ constructor: z.string() })), {})).toBe('constructor is missing');
    expect(misfitOfSchema(told(z.strictObject({})), JSON.parse('{"__proto__":1}') as Json)).toBe('__proto__ is not wanted');
  });

  it('may follow a schema that contains itself, and ends', () => {
    const tree: Json = {
      $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' }, value: { type: 'number' } }, required: ['value'] } },
      $ref: '#/$defs/node',
    };
    expect(misfitOfSchema(tree, { value: 1, next: { value: 2 } })).toBeUndefined();
    expect(misfitOfSchema(tree, { value: 1, next: {} })).toBe('next.value is missing');
    expect(misfitOfSchema({ $ref: '#' }, 1)).toBeUndefined();
  });

  it('passes where the schema says what nobody knows here', () => {
    for (const schema of [
      undefined,
      true,
      {},
      { pattern: '^(a+)+$' },
      { type: 'nonsense' },
      { $ref: 'https://other' },
      { format: 'email' },
    ])
      expect(misfitOfSchema(schema, `${'a'.repeat(40)}!`)).toBeUndefined();
    expect(misfitOfSchema(false, 1)).toBe('it is not wanted');
  });

  it('may name a part of the schema by an anchor, or by the id of a schema in it', () => {
    const $defs = {
      n: { $anchor: 'count', type: 'integer' },
      a: { $id: 'https://example.com/a', $ref: '#/$defs/x', $defs: { x: { type: 'null' } } },
    };
    expect(misfitOfSchema({ items: { $ref: '#count' }, $defs }, [1, 'a'])).toBe('1 is no integer');
    expect(misfitOfSchema({ $ref: 'https://example.com/a', $defs }, 1)).toBe('it is no null');
    expect(misfitOfSchema({ $ref: 'https://example.com/a#/$defs/x', $defs }, 1)).toBe('it is no null');
  });
});

describe('a check of a schema ends soon', () => {
  const nested = (depth: number, innermost: Json): Json => Array.from({ length: depth }).reduce<Json>((inner) => [inner], innermost);

  it.each<[string, Json, Json, string | undefined]>([
    ['that refers to itself twice', { allOf: [{ $ref: '#' }, { $ref: '#' }] }, 1, undefined],
    ['that refers to itself twice and wants something', { type: 'string', allOf: [{ $ref: '#' }, { $ref: '#' }] }, 1, 'it is no string'],
    ['whose choices refer to it', { anyOf: [{ $ref: '#' }, { $ref: '#' }, { type: 'string' }] }, 1, undefined],
    [
      'that looks at each part of the value again and again',
      { allOf: [{ items: { $ref: '#' } }, { items: { $ref: '#' } }], type: ['array', 'null'] },
      nested(60, 1),
      `${Array.from({ length: 60 }, () => '0').join('.')} is no array or null`,
    ],
    [
      'that doubles at each of its definitions',
      {
        $ref: '#/$defs/d0',
        $defs: Object.fromEntries(
          Array.from({ length: 100 }, (_, n): [string, Json] => [
            `d${n}`,
            n === 99 ? { type: 'string' } : { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}`, title: 'again' }] },
          ]),
        ),
      },
      1,
      'it is no string',
    ],
  ])('%s', (_, schema, value, misfit) => expect(misfitOfSchema(schema, value)).toBe(misfit));

  it('also where every choice is told as wrong', () => {
    const choices = Array.from({ length: 4 }, (_, n): Json => ({ title: `${n}`, items: { $ref: '#' }, minItems: 1 + n }));
    expect(misfitOfSchema({ anyOf: choices }, nested(40, []))?.length).toBeLessThan(1100);
  });

  it('of values with very many fields, items and texts', () => {
    const names = Array.from({ length: 2000 }, (_, n) => `field${n}`);
    const schema: Json = { properties: Object.fromEntries(names.map((name) => [name, { enum: names }])), additionalProperties: false };
    const began = process.cpuUsage();
    expect(misfitOfSchema(schema, Object.fromEntries(names.map((name) => [name, 'field7'])))).toBeUndefined();
    expect(
      misfitOfSchema({ $ref: '#/$defs/item', $defs: { item: { items: { $ref: '#/$defs/item' } } } }, nested(400, 'a'.repeat(200_000))),
    ).toBeUndefined();
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(5000);
  });

  it('of very many choices for very many items, and refuses what it has not reached', () => {
    const choices = [...Array.from({ length: 2000 }, (): Json => ({ type: 'string' })), {}];
    const items = Array.from({ length: 1000 }, () => 5);
    expect(misfitOfSchema({ items: { anyOf: choices } }, items)).toContain('is too large to be checked by this schema');
    expect(misfitOfSchema({ items: { anyOf: choices } }, items.slice(0, 400))).toBeUndefined();
  });

  it('of very many items with one long reference', () => {
    const deep = Array.from({ length: 4000 }).reduce<Json>((inner) => ({ a: inner }), { type: 'number' });
    const schema: Json = { items: { $ref: `#/x${'/a'.repeat(4000)}` }, x: deep };
    const items = Array.from({ length: 20_000 }, () => 5);
    const began = process.cpuUsage();
    expect(misfitOfSchema(schema, items)).toBeUndefined();
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(5000);
  });

  it('of a schema and a value that are deeper than any that is meant', () => {
    const deep = Array.from({ length: 3000 }).reduce<Json>((inner) => ({ allOf: [{ not: {} }, inner] }), { type: 'string' });
    expect(() => misfitOfSchema(deep, nested(3000, 1))).not.toThrow();
    expect(() => misfitOfSchema({ items: { $ref: '#' } }, nested(3000, 1))).not.toThrow();
  });
});

describe('all misfits', () => {
  const schema = {
    type: 'object',
    properties: {
      title: { type: 'string', minLength: 3 },
      copies: { type: 'integer', minimum: 1 },
      to: { $ref: '#/$defs/place' },
      pages: { type: 'array', items: { type: 'integer' }, minItems: 3 },
    },
    required: ['title', 'copies'],
    additionalProperties: false,
    $defs: { place: { type: 'object', properties: { city: { type: 'string' }, zip: { type: 'string' } }, required: ['city', 'zip'] } },
  } satisfies Json;

  it.each<[Json, readonly string[]]>([
    [{ title: 'Tea', copies: 1 }, []],
    [{}, ['title is missing', 'copies is missing']],
    [{ title: 'T', copies: 0 }, ['title has 1 characters, at least 3 are wanted', 'copies is less than 1']],
    [{ title: 'Tea', copies: 1, to: {} }, ['to.city is missing', 'to.zip is missing']],
    [
      { title: 'Tea', copies: 1, pages: ['a', 1.5] },
      ['pages has 2 items, at least 3 are wanted', 'pages.0 is no integer', 'pages.1 is no integer'],
    ],
    [{ copies: 1, titel: 'Tea' }, ['title is missing', 'titel is not wanted; there is title, copies, to, pages']],
    ['Tea', ['it is no object']],
  ])('of %j', (value, misfits) => expect(misfitsOfSchema(schema, value)).toEqual(misfits));

  it('have the one of the run as their first', () => {
    for (const value of [{}, { title: 'T', copies: 0 }, { title: 'Tea', copies: 1, to: {} }] satisfies Json[])
      expect(misfitsOfSchema(schema, value)[0]).toBe(misfitOfSchema(schema, value));
  });

  it('are told as far as twenty, and each once', () => {
    const many = misfitsOfSchema(
      { items: { type: 'string' } },
      Array.from({ length: 25 }, () => 1),
    );
    expect([many.length, many.at(-1)]).toEqual([21, 'and more']);
    expect(misfitsOfSchema({ allOf: [schema, schema], ...schema }, {})).toEqual(['title is missing', 'copies is missing']);
  });

  it('end soon for a schema that leads back to itself twice', () => {
    const deep = (levels: number): Json => (levels === 0 ? 1 : { next: deep(levels - 1) });
    const looped: Json = { type: 'object', properties: { next: { allOf: [{ $ref: '#' }, { $ref: '#' }] } } };
    expect(misfitsOfSchema(looped, deep(60))).toHaveLength(1);
  });
});
