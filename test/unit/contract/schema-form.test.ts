import { z } from 'zod';
import type { Json } from '../../../contract/messages/messages';
import { problemOfSchema } from '../../../contract/schema/schema-form';

describe('a schema for answers', () => {
  it.each<[Json, string]>([
    [5, 'it is 5; a schema is an object, true or false'],
    ['string', 'it is "string"; a schema'],
    [null, 'it is null; a schema'],
    [[], 'it is a list; a schema'],
    [{ type: 'nonsense' }, 'it has a type "nonsense"; there are string, number'],
    [{ type: ['string', 'any'] }, 'it has a type "any"'],
    [{ type: null }, 'it has a type null'],
    [{ type: 'string', pattern: '(' }, 'it has a pattern "(" that is no regular expression'],
    [{ pattern: 5 }, 'it has a pattern that is no text'],
    [{ patternProperties: { '[': true } }, 'it has a patternProperties "[" that is no regular expression'],
    [{ enum: 'abc' }, 'it has an enum that is no list'],
    [{ required: 'x' }, 'it has a required that is no list of names'],
    [{ minimum: '5' }, 'it has a minimum that is no number'],
    [{ anyOf: { type: 'string' } }, 'it has an anyOf that is no list of schemas'],
    [{ properties: [] }, 'it has a properties that is no object with schemas'],
    [{ properties: { a: 'string' } }, 'properties.a is "string"; a schema'],
    [{ properties: { a: { items: { type: 'text' } } } }, 'properties.a.items has a type "text"'],
    [{ oneOf: [true, { not: { enum: 5 } }] }, 'oneOf.1.not has an enum'],
    [{ $ref: '#/nope' }, 'it has a $ref to "#/nope", and nothing stands there'],
    [{ properties: { a: { $ref: '#/$defs/a' } }, $defs: { b: {} } }, 'properties.a has a $ref to "#/$defs/a"'],
    [{ $ref: '#/$defs/a', $defs: { a: { type: 'text' } } }, '#/$defs/a has a type "text"'],
    [{ $ref: 5 }, 'it has a $ref that is no text'],
    [{ $ref: '#nope' }, 'it has a $ref to "#nope", and nothing stands there'],
    [{ $ref: '#nope', $defs: { other: { $anchor: 'other' } } }, 'it has a $ref to "#nope", and nothing stands there'],
    [{ items: { $ref: 'https://example.com/answer.json' } }, 'items has a $ref to "https://example.com/answer.json", which is no'],
    [{ $ref: 'definitions.json#/answer' }, 'it has a $ref to "definitions.json#/answer", which is no part of it; put that schema'],
    [
      { properties: { a: { $id: 'https://example.com/a', $ref: '#/$defs/y', $defs: { x: true } } } },
      'properties.a has a $ref to "#/$defs/y",',
    ],
  ])('is refused when it would check nothing: %j', (schema, problem) => {
    expect(problemOfSchema(schema)).toContain(problem);
  });

  it.each<Json>([
    true,
    false,
    {},
    { type: ['string', 'null'], format: 'email', nullable: true, 'x-own': { type: 'mine' } },
    { enum: ['(', { type: 'x' }], const: { enum: 5 }, default: { $ref: '#/nope' }, examples: [{ type: 'x' }] },
    { properties: { type: { type: 'string' }, enum: true, $ref: { type: 'string' }, pattern: {} } },
    { type: 'number', exclusiveMinimum: true, minimum: 0 },
    { type: 'array', items: [{ type: 'string' }, true], additionalItems: false },
    { pattern: '^[\\w-.]+$' },
    { pattern: '\\p{L}+' },
    { pattern: '(?<year>\\d{4})-\\k<year>' },
    { $ref: '#/$defs/n', $defs: { n: { type: 'number' }, group: { type: { type: 'string' } } } },
    { $ref: '#/$defs/a%20b~1c', $defs: { 'a b/c': { type: 'number' } } },
    { $ref: '#/$defs/a%b', $defs: { 'a%b': { type: 'number' } } },
    { anyOf: [{ type: 'string' }, { type: 'array', items: { $ref: '#/anyOf/0' } }] },
    { type: 'object', properties: { next: { $ref: '#' } } },
    { $ref: 'https://example.com/a#/$defs/x', $defs: { a: { $id: 'https://example.com/a', $defs: { x: true } } } },
    { $id: 'https://example.com/all', $ref: 'a', $defs: { a: { $id: 'a' } } },
    { $id: 'https://example.com/all', $ref: 'https://example.com/all#/$defs/n', $defs: { n: {} } },
    { properties: { a: { $id: 'a', $ref: '#/$defs/n' } }, $defs: { n: {} } },
    { $ref: '#old', definitions: { n: { id: '#old' } } },
    { properties: { a: { $id: 'https://example.com/a', $ref: '#/$defs/x', $defs: { x: true } } } },
    { $ref: '#name', $defs: { n: { $anchor: 'name' } } },
  ])('is taken: %j', (schema) => expect(problemOfSchema(schema)).toBeUndefined());

  it('may have undefined fields, and may be frozen', () => {
    expect(problemOfSchema(Object.freeze({ type: undefined, enum: ['a'], properties: { a: undefined } }) as never)).toBeUndefined();
  });

  it('may be of zod', () => {
    interface Tree {
      readonly name: string;
      readonly parts: readonly Tree[];
    }
    const tree: z.ZodType<Tree> = z.lazy(() => z.object({ name: z.string().regex(/^\w+$/u), parts: z.array(tree) }));
    const other = z.object({ email: z.email(), at: z.iso.datetime(), of: z.record(z.string(), z.tuple([z.int(), z.literal('x')])) });
    const union = z.discriminatedUnion('kind', [z.strictObject({ kind: z.literal('a') }), z.looseObject({ kind: z.literal('b') })]);
    for (const schema of [tree, other, union, z.any(), z.never(), z.string().nullable(), z.uuid(), z.url(), z.base64(), z.ipv6()])
      for (const target of ['draft-2020-12', 'draft-7', 'draft-4', 'openapi-3.0'] as const)
        expect(problemOfSchema(z.toJSONSchema(schema, { target }) as Json)).toBeUndefined();
  });

  it('ends soon where definitions lead in a circle', () => {
    const $defs = Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`d${n}`, { $ref: `#/$defs/d${(n + 1) % 2000}` }]));
    expect(problemOfSchema({ $ref: '#/$defs/d0', $defs })).toBeUndefined();
    expect(problemOfSchema({ anyOf: Array.from({ length: 200_000 }, () => ({ type: 'string' })) })).toBeUndefined();
  });
});
