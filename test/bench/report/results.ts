export type SizeNumbers =
  | { readonly turns: number; readonly turnMs: number; readonly keptBytes: number; readonly writtenBytes: number }
  | { readonly turns: number; readonly problem: string };

export interface Recovery {
  readonly runs: number;
  readonly ended: number;
  readonly seconds: number;
  readonly askedAgain: number;
  readonly paidAgain: number;
}

export interface Numbers {
  readonly coldStartMs: number;
  readonly sizes: readonly SizeNumbers[];
  readonly turnsPerSecond: number;
  readonly workerCpuMs: number;
  readonly storeCpuMs?: number;
  readonly answerMs: number;
  readonly parkedKb: number;
  readonly recovery: Recovery;
}

export interface Results {
  readonly date: string;
  readonly machine: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly peers: Readonly<Record<string, Numbers>>;
}

/** Checks only the fields of the tables. */
export function parseResults(text: string): Results {
  const results = JSON.parse(text) as Partial<Results>;
  const { peers } = results;
  if (typeof peers !== 'object') throw new Error('A file of results must have peers.');
  for (const [name, numbers] of Object.entries(peers)) {
    const needed = [numbers.coldStartMs, numbers.turnsPerSecond, numbers.workerCpuMs, numbers.answerMs, numbers.parkedKb];
    if (!needed.every(Number.isFinite) || !Array.isArray(numbers.sizes)) throw new Error(`The numbers of ${name} must be complete.`);
  }
  return results as Results;
}
