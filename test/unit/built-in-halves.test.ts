import { builtInHalfNames } from '../../contract/built-in-halves';
import { builtInHalves } from '../../worker/built-in-halves';

it('the worker halves that configurations need not have are those that every worker has', () => {
  expect(builtInHalves().map(({ name }) => name)).toEqual(builtInHalfNames);
});
