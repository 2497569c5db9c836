import { similarNames } from '../../../contract/similar-names';

it.each<[string, readonly string[], readonly string[]]>([
  ['alpha_too', ['alpha_tool'], ['alpha_tool']],
  ['totally_missing', ['alpha_tool'], []],
  ['searchOrder', ['searchOrders', 'search_order', 'refund'], ['searchOrders', 'search_order']],
  ['Refund', ['refund'], ['refund']],
  ['say', ['add'], []],
  ['', ['add'], []],
  ['get_user_d', ['get_user_a', 'get_user_b', 'get_user_c', 'get_user'], ['get_user_a', 'get_user_b', 'get_user_c']],
])('%s was probably meant as one of %j: %j', (meant, names, expected) => {
  expect(similarNames(meant, names)).toEqual(expected);
});

it('does not compare names that are far too long', () => {
  expect(similarNames('x'.repeat(1_000_000), ['search'])).toEqual([]);
});
