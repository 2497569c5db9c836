import type { GrepLine } from './search';

export interface Page {
  readonly offset?: number | undefined;
  /** 0 or undefined: all. */
  readonly limit?: number | undefined;
}

export const noFiles = 'No files found';
export const noMatches = 'No matches found';

function pageOf<Item>(items: readonly Item[], { offset = 0, limit = 0 }: Page): readonly Item[] {
  const from = Math.max(0, offset);
  return items.slice(from, limit > 0 ? from + limit : undefined);
}

function counted(count: number, one: string, more: string): string {
  return `${count} ${count === 1 ? one : more}`;
}

function countsOf(lines: readonly GrepLine[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { path, fits } of lines) if (fits) counts.set(path, (counts.get(path) ?? 0) + 1);
  return counts;
}

/** The total counts all pages. */
export function filesAnswer(lines: readonly GrepLine[], page: Page): string {
  const files = [...countsOf(lines).keys()];
  if (files.length === 0) return noFiles;
  return [`Found ${counted(files.length, 'file', 'files')}`, ...pageOf(files, page)].join('\n');
}

/** The totals count all pages. */
export function countAnswer(lines: readonly GrepLine[], page: Page): string {
  const counts = [...countsOf(lines)].sort(([one], [other]) => (one < other ? -1 : 1));
  if (counts.length === 0) return noMatches;
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  const shown = pageOf(counts, page).map(([path, count]) => `${path}:${count}`);
  const summary = `Found ${counted(total, 'total occurrence', 'total occurrences')} across ${counted(counts.length, 'file', 'files')}.`;
  return [...shown, ...(shown.length === 0 ? [] : ['']), summary].join('\n');
}

/** Lines near a match have dashes. */
export function contentAnswer(lines: readonly GrepLine[], page: Page, hasNumbers: boolean): string {
  if (lines.length === 0) return noMatches;
  const shown = pageOf(lines, page).map(({ path, line, text, fits }) => {
    const mark = fits ? ':' : '-';
    return hasNumbers ? `${path}${mark}${line}${mark}${text}` : `${path}${mark}${text}`;
  });
  return shown.length === 0 ? `Found ${counted(lines.length, 'line', 'lines')}` : shown.join('\n');
}
