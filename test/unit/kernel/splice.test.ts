import type { StoredMessage } from '../../../contract/messages/messages';
import { applySplices, spliceBetween } from '../../../contract/record/splice';
import { Random } from '../../parity/random';

const message = (id: string): StoredMessage => ({ id, role: 'user', parts: [{ type: 'text', text: `text of ${id}` }] });
const idOf = (item: string | StoredMessage): string => (typeof item === 'string' ? item : item.id);

function edited(from: readonly string[], random: Random, fresh: () => string): string[] {
  const to = [...from];
  for (let edit = random.below(6); edit > 0; edit--) {
    const at = random.below(to.length + 1);
    switch (random.below(5)) {
      case 0:
        to.splice(at, 0, fresh());
        break;
      case 1:
        to.splice(at, random.below(4));
        break;
      case 2:
        to.splice(at, 1, fresh());
        break;
      case 3: {
        const [moved] = to.splice(at, 1);
        if (moved !== undefined) to.splice(random.below(to.length + 1), 0, moved);
        break;
      }
      default:
        to.push(fresh());
    }
  }
  return to;
}

describe('splices', () => {
  it('turn any list into any other, and never name a message that both have in order at the ends', () => {
    for (let seed = 1; seed <= 3000; seed++) {
      const random = new Random(`${seed}`);
      let count = 0;
      const fresh = (): string => `m${count++}`;
      const from = Array.from({ length: random.below(30) }, fresh);
      const to = edited(from, random, fresh);
      const splices = spliceBetween(from, to.map(message), (id) => from.includes(id));
      expect(applySplices(from, splices, idOf)).toEqual(to);
      const named = splices.flatMap(([, , insert]) => insert);
      expect(named.filter((item) => typeof item !== 'string').map(idOf)).toEqual(to.filter((id) => !from.includes(id)));
    }
  });

  it('are as large as what changed, not as the list', () => {
    const from = Array.from({ length: 500 }, (_, index) => `m${index}`);
    const known = (): boolean => true;
    const size = (to: readonly string[]): number => JSON.stringify(spliceBetween(from, to.map(message), known)).length;
    expect(size(from)).toBeLessThan(5);
    expect(size([...from, 'a', 'b'])).toBeLessThan(30);
    expect(size(from.slice(100))).toBeLessThan(30);
    expect(size(['first', ...from.slice(1), 'last'])).toBeLessThan(60);
    expect(size(['first', ...from.slice(1, 250), 'middle', ...from.slice(250), 'last'])).toBeLessThan(90);
    expect(size([])).toBeLessThan(20);
  });

  it('name a message that history has by its id, and hold one that it has not', () => {
    expect(spliceBetween(['a'], [message('a'), message('b'), message('c')], (id) => id === 'b')).toEqual([[1, 0, ['b', message('c')]]]);
    expect(spliceBetween(['a'], [message('a')], () => false)).toEqual([]);
  });
});
