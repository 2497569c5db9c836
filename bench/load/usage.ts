import { readFileSync, readdirSync, statSync } from 'node:fs';

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

/** CPU time and memory of processes together with those that they started. Of those that have ended in between, only the time counts. */
export function usageOf(...pids: readonly number[]): Usage {
  const all = new Map(processIds().flatMap((pid) => statOf(pid).map((stat) => [pid, stat] as const)));
  const wanted = new Set(pids);
  for (let size = 0; size !== wanted.size;) {
    size = wanted.size;
    for (const [pid, { parent }] of all) if (wanted.has(parent)) wanted.add(pid);
  }
  const stats = [...wanted].flatMap((pid) => all.get(pid) ?? []);
  return {
    cpuMs: stats.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
    rssMb: stats.reduce((sum, { rssMb }) => sum + rssMb, 0),
  };
}

function processIds(): readonly number[] {
  if (process.platform !== 'linux') throw new Error(`This bench reads /proc, which only Linux has. This is ${process.platform}.`);
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

/** Nothing of a process that has just ended. The name, in brackets, may have spaces in it. */
function statOf(pid: number): readonly Stat[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [, parent = 0] = fields;
    const ticks = fields.slice(11, 15).reduce((sum, one) => sum + one, 0);
    return [{ parent, cpuMs: ticks * tickMs, rssMb: (fields[21] ?? 0) * pageMb }];
  } catch {
    return [];
  }
}

/** A file with what SQLite keeps beside it. */
export function databaseMb(file: string): number {
  return ['', '-wal'].reduce((sum, end) => sum + (statSync(file + end, { throwIfNoEntry: false })?.size ?? 0), 0) / 1024 ** 2;
}

export interface Sample {
  /** Milliseconds since the load began. */
  readonly at: number;
  readonly rssMb: number;
}

/** Megabytes that come to it in an hour: the slope of the straight line through the samples. */
export function growthAnHour(samples: readonly Sample[]): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;
  const at = mean(samples.map((sample) => sample.at));
  const rssMb = mean(samples.map((sample) => sample.rssMb));
  const shared = samples.reduce((sum, sample) => sum + (sample.at - at) * (sample.rssMb - rssMb), 0);
  const spread = samples.reduce((sum, sample) => sum + (sample.at - at) ** 2, 0);
  return spread === 0 ? 0 : (shared / spread) * 3_600_000;
}
