import { rounded } from './numbers';
import type { Numbers, Results } from './results';

interface Column {
  readonly title: string;
  readonly of: (numbers: Numbers) => string;
}

/** About three significant digits. */
export function shown(value: number): string {
  if (!Number.isFinite(value)) return '?';
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return rounded(value, digits).toLocaleString('en-US', { minimumFractionDigits: 0, maximumFractionDigits: digits });
}

function ofSize(turns: number, pick: (size: { turnMs: number; keptBytes: number; writtenBytes: number }) => number): Column['of'] {
  return ({ sizes }) => {
    const size = sizes.find((one) => one.turns === turns);
    if (size === undefined) return '-';
    return 'problem' in size ? 'fails' : shown(pick(size));
  };
}

const cpu = ({ workerCpuMs, storeCpuMs }: Numbers): string =>
  storeCpuMs === undefined
    ? `${shown(workerCpuMs)} + ?`
    : `${shown(workerCpuMs)} + ${shown(storeCpuMs)} = ${shown(workerCpuMs + storeCpuMs)}`;

const kb = (bytes: number): number => bytes / 1000;

const ended = ({ recovery }: Numbers): string => `${recovery.ended} of ${recovery.runs}`;

const sizesIn = (results: Results): readonly number[] => Object.values(results.peers)[0]?.sizes.map(({ turns }) => turns) ?? [];

export function wholeTable(results: Results): string {
  const sizes = sizesIn(results);
  const rows: Column[] = [
    ...sizes.map((turns) => ({ title: `ms a turn, run of ${turns} turns`, of: ofSize(turns, ({ turnMs }) => turnMs) })),
    { title: 'turns/s, 50 runs at once', of: ({ turnsPerSecond }) => shown(turnsPerSecond) },
    { title: 'CPU ms a turn, 50 at once: worker + store', of: cpu },
    ...sizes.map((turns) => ({ title: `KB kept a turn, run of ${turns}`, of: ofSize(turns, ({ keptBytes }) => kb(keptBytes)) })),
    ...sizes.map((turns) => ({ title: `KB written a turn, run of ${turns}`, of: ofSize(turns, ({ writtenBytes }) => kb(writtenBytes)) })),
    { title: 'ms from answer to tool', of: ({ answerMs }) => shown(answerMs) },
    { title: 'KB of worker memory a parked run', of: ({ parkedKb }) => shown(Math.max(0, parkedKb)) },
    { title: 'ms from process start to first turn done', of: ({ coldStartMs }) => shown(coldStartMs) },
    { title: 'kill -9: runs that ended', of: ended },
    { title: 'kill -9: s to the last end', of: ({ recovery }) => shown(recovery.seconds) },
    { title: 'kill -9: payments asked for twice', of: ({ recovery }) => String(recovery.askedAgain) },
    { title: 'kill -9: payments made twice', of: ({ recovery }) => String(recovery.paidAgain) },
  ];
  const peers = Object.entries(results.peers);
  return markdown(
    ['', ...peers.map(([name]) => name)],
    rows.map(({ title, of }) => [title, ...peers.map(([, numbers]) => of(numbers))]),
  );
}

export function shortTable(results: Results, reasons: Readonly<Record<string, string>>): string {
  const columns: Column[] = [
    { title: 'ms a turn', of: ofSize(100, ({ turnMs }) => turnMs) },
    { title: 'KB kept a turn', of: ofSize(100, ({ keptBytes }) => kb(keptBytes)) },
    { title: 'ended after kill -9', of: ended },
  ];
  return markdown(
    ['', ...columns.map(({ title }) => title), 'Choose it if'],
    Object.entries(results.peers).flatMap(([name, numbers]) => {
      const reason = reasons[name];
      return reason === undefined ? [] : [[name, ...columns.map(({ of }) => of(numbers)), reason]];
    }),
    ['Choose it if'],
  );
}

/** Formats as prettier does. */
function markdown(head: readonly string[], rows: readonly (readonly string[])[], texts: readonly string[] = []): string {
  const isText = head.map((title, column) => column === 0 || texts.includes(title));
  const widths = head.map((title, column) => Math.max(3, title.length, ...rows.map((row) => (row[column] ?? '').length)));
  const padded = (cell: string, column: number): string =>
    isText[column] === true ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  const line = (cells: readonly string[]): string => `| ${cells.map(padded).join(' | ')} |`;
  const rule = `| ${widths.map((width, column) => (isText[column] === true ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

export function replaceSection(page: string, name: string, text: string): string {
  const [begin, end] = [`<!-- ${name}: made by npm run bench -- peers -->`, `<!-- end of ${name} -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`The page must have the markers '${begin}' and '${end}', in this order.`);
  return `${page.slice(0, from)}${begin}\n\n${text}\n\n${page.slice(to)}`;
}
