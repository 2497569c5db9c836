import type { ListedInterrupt } from '../../http/index';
import type { AskingRow, RowSort } from './row';
import { compareRows, rowOf } from './row';

/** How long a row stays that does not wait any more. */
const lingerMs = 4_000;

/**
 * Rows in a steady order. What somebody else decides stays in its place for a moment, and says so. While somebody is about to
 * choose from the list, nothing moves: what is new comes at the end.
 */
export class RowBoard {
  private rows: readonly AskingRow[] = [];
  private sort: RowSort | undefined;

  /** `onGone`: hears of each row that does not wait any more, as long as it is shown. */
  constructor(private readonly onGone: (row: AskingRow) => void) {}

  /** The rows after the service has answered. `isHeld`: somebody is about to choose. `selected`: it stays while somebody reads it. */
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
