import { oneLine, type Terminal } from './terminal';

export const exitCodes = { done: 0, failed: 1, waiting: 2 } as const;

export interface JsonFlag {
  readonly json?: boolean;
}

export function told(terminal: Terminal, text: string): number {
  terminal.write(text);
  return exitCodes.done;
}

export function writeJson(terminal: Terminal, value: unknown): number {
  terminal.writeText(JSON.stringify(value, null, 2));
  return exitCodes.done;
}

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
