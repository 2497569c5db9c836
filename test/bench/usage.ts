import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export interface Usage {
  readonly cpuMs: number;
  readonly rssMb: number;
}

interface Stat extends Usage {
  readonly parent: number;
}

/** Linux counts in ticks of 10 ms and pages of 4 KB. */
const tickMs = 10;
const pageMb = 4096 / 1024 ** 2;

/** An ended child counts with its CPU time. */
export function usageOf(...pids: readonly number[]): Usage {
  if (process.platform !== 'linux') throw new Error(`This bench reads /proc, which only Linux has. This is ${process.platform}.`);
  const running = readdirSync('/proc').map(Number).filter(Number.isInteger);
  const all = new Map(running.flatMap((pid) => statOf(pid).map((stat) => [pid, stat] as const)));
  const wanted = new Set(pids);
  for (let size = 0; size !== wanted.size;) {
    size = wanted.size;
    for (const [pid, { parent }] of all) if (wanted.has(parent)) wanted.add(pid);
  }
  const stats = [...wanted].flatMap((pid) => all.get(pid) ?? []);
  const sum = (of: (stat: Stat) => number): number => stats.reduce((total, stat) => total + of(stat), 0);
  return { cpuMs: sum(({ cpuMs }) => cpuMs), rssMb: sum(({ rssMb }) => rssMb) };
}

/** The name in brackets may contain spaces. */
function statOf(pid: number): readonly Stat[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [, rest = ''] = /.*\) (.*)/s.exec(text) ?? [];
    const fields = rest.split(' ').map(Number);
    const ticks = fields.slice(11, 15).reduce((sum, one) => sum + one, 0);
    return [{ parent: fields[1] ?? 0, cpuMs: ticks * tickMs, rssMb: (fields[21] ?? 0) * pageMb }];
  } catch {
    return [];
  }
}

/** Size of the database after a checkpoint of the whole `-wal` file. */
export function databaseBytes(directory: string): number {
  const file = readdirSync(directory).find((name) => name.endsWith('.db')) ?? '';
  const head = readFileSync(join(directory, file)).subarray(0, 100);
  // SQLite writes 1 for 65,536.
  const pageSize = head.readUInt16BE(16) === 1 ? 65_536 : head.readUInt16BE(16);
  return (pagesIn(readFileSync(join(directory, `${file}-wal`)), pageSize) ?? head.readUInt32BE(28)) * pageSize;
}

/** Reads the last commit in the current round of the log. */
function pagesIn(wal: Buffer, pageSize: number): number | undefined {
  let pages: number | undefined;
  for (let at = 32; at + 24 + pageSize <= wal.length; at += 24 + pageSize) {
    if (!wal.subarray(at + 8, at + 16).equals(wal.subarray(16, 24))) break;
    pages = wal.readUInt32BE(at + 4) || pages;
  }
  return pages;
}
