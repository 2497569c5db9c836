import type { Terminal } from './terminal';
import { oneLine } from './terminal';

/** Rows in columns, under a head line where there is one. The last column is as long as it is. */
export function writeTable(terminal: Terminal, rows: readonly (readonly string[])[], head?: readonly string[]): void {
  const cells = [...(head === undefined ? [] : [head]), ...rows].map((row) => row.map((cell) => oneLine(cell)));
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  cells.forEach((row, position) => {
    const line = row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
    terminal.write(head !== undefined && position === 0 ? terminal.paint.dim(line) : line);
  });
}
