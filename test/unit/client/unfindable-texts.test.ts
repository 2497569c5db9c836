import { startInputOf } from '../../../client/runs/start-input';
import type { ListOptions } from '../../../client/listing/list-options';
import { askedList, filterOf } from '../../../client/listing/list-options';
import { clausesFor } from '../../../client/listing/run-lists';
import { errorOf } from '../../support/failures';

const nul = 'a\u0000b';
const newline = 'a\nb';

describe('a text that no server finds', () => {
  it.each<readonly [string, ListOptions]>([
    ['startedBy', { startedBy: nul }],
    ['tag', { tag: nul }],
    ['a tag of several', { tag: ['night', nul] }],
    ['mayAnswer', { mayAnswer: nul }],
    ['role', { mayAnswer: 'ada', role: nul }],
  ])('is refused as %s where it has a NUL', (_, options) => {
    for (const kind of ['list', 'interrupts'] as const)
      expect(() => askedList(kind, 'main', options)).toThrow(errorOf('request-invalid', /NUL/));
  });

  it.each([{ by: nul }, { tags: [nul] }])('is refused of a start where it has a NUL: %j', (options) => {
    expect(() => startInputOf({ tenant: 'main', agent: 'support' }, 'Go.', options)).toThrow(
      expect.objectContaining({ code: 'input-invalid' }),
    );
  });

  it('is looked for here, and not by the server, where it has a newline', () => {
    const asked = askedList('list', 'main', { startedBy: newline, tag: newline });
    expect(clausesFor(filterOf(asked, 0)).join(' ')).not.toMatch(/HoldfastStartedBy|HoldfastTags|\n/);
    expect(() => askedList('list', 'main', { startedBy: newline, total: true })).toThrow('control character');
  });
});
