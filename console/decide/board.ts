import type { ListedInterrupt } from '../../client/http/index';
import type { AskingRow, RowSort } from './row';
import { compareRows, rowOf } from './row';

const lingerMs = 4_000;

/** While a person is about to choose, no row moves, and new rows come last. */
export class RowBoard {
  private rows: readonly AskingRow[] = [];
  private sort: RowSort | undefined;

  constructor(private readonly onGone: (row: AskingRow) => void) {}

  /** `isHeld`: a person is about to choose. `selected`: stays in place. */
  update(listed: readonly ListedInterrupt[], how: { sort: RowSort; isHeld: boolean; selected: string; at: number }): readonly AskingRow[] {
    const waiting = new Map(listed.map((one) => [rowOf(one).key, one]));
    const kept = this.rows.flatMap((row): readonly AskingRow[] => {
      const now = waiting.get(row.key);
      waiting.delete(row.key);
      if (now !== undefined)
        return [now === row.listed && row.goneAt === undefined ? row : { ...rowOf(now), ...(row.isFresh ? { isFresh: true } : {}) }];
      const goneAt = row.goneAt ?? how.at;
      this.onGone(row);
      const isShown = how.isHeld || row.key === how.selected || how.at - goneAt < lingerMs;
      return isShown ? [row.goneAt === undefined ? { ...row, goneAt } : row] : [];
    });
    const isSteady = how.isHeld && this.sort === how.sort;
    const fresh = [...waiting.values()].map((one): AskingRow => (isSteady ? { ...rowOf(one), isFresh: true } : rowOf(one)));
    const compare = compareRows(how.sort);
    this.rows = isSteady ? [...kept, ...fresh.sort(compare)] : [...kept.map(({ isFresh: _, ...row }) => row), ...fresh].sort(compare);
    this.sort = how.sort;
    return this.rows;
  }
}
