import { exampleOf } from '../../../cli/schema-example';
import type { Json } from '../../../contract/messages/messages';
import { wholeMisfit } from '../../../client/runs/whole-misfit';

it.each<[Json, Json]>([
  [{ type: 'integer' }, 0],
  [{ type: 'integer', exclusiveMinimum: 0, maximum: Number.MAX_SAFE_INTEGER }, 1],
  [{ type: 'integer', minimum: -Number.MAX_SAFE_INTEGER }, 0],
  [{ type: 'integer', minimum: 2.5 }, 3],
  [{ type: 'integer', maximum: -2 }, -2],
  [{ type: 'integer', exclusiveMaximum: -2 }, -3],
  [{ type: 'integer', minimum: 7, multipleOf: 5 }, 10],
  [{ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 0.5 }, 0.25],
  [{ type: 'string', minLength: 1 }, 'your value'],
  [{ type: 'string', minLength: 12 }, 'your value y'],
  [{ type: 'string', minLength: 11 }, 'your value.'],
  [{ type: 'string', maxLength: 4 }, 'your'],
  [{ type: 'string', format: 'email' }, 'ann@example.com'],
  [{ type: 'string', format: 'date' }, '2026-01-31'],
  [{ type: 'string', format: 'uuid' }, '6f1c6a2e-3a52-4b1c-9d0e-0123456789ab'],
  [{ type: 'string', format: 'toString' }, 'your value'],
  [{ enum: ['a', 'b'], type: 'string' }, 'a'],
  [{ type: ['string', 'null'] }, 'your value'],
  [{ anyOf: [{ type: 'integer', minimum: 3 }, { type: 'null' }] }, 3],
  [{ type: 'array', items: { type: 'integer' }, minItems: 2 }, [0, 0]],
])('an example of what a schema takes of %j is %j', (schema, example) => {
  expect(exampleOf(schema, 'your value')).toEqual(example);
  expect(wholeMisfit(schema, example, 'input')).toBeUndefined();
});
