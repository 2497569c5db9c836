import { median } from './numbers';

/** Numbers of runs of one size; or why there are none. */
export type SizeNumbers =
  | { readonly turns: number; readonly turnMs: number; readonly keptBytes: number; readonly writtenBytes: number }
  | { readonly turns: number; readonly problem: string };

export interface Recovery {
  readonly runs: number;
  readonly ended: number;
  readonly seconds: number;
  /** Payments that were asked for twice, and that were made twice. */
  readonly askedAgain: number;
  readonly paidAgain: number;
}

/** What was measured of one peer. */
export interface Numbers {
  /** In how many rounds; the numbers are the middle of them. */
  readonly rounds: number;
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

/** The middle of several rounds, number by number. Of a kill, what happened in all rounds together. */
export function middle(rounds: readonly Numbers[]): Numbers {
  const [first] = rounds;
  if (first === undefined) throw new Error('There must be a round.');
  const of = (pick: (one: Numbers) => number): number => median(rounds.map(pick));
  const sum = (pick: (one: Recovery) => number): number => rounds.reduce((total, { recovery }) => total + pick(recovery), 0);
  const storage = rounds.flatMap(({ storeCpuMs }) => (storeCpuMs === undefined ? [] : [storeCpuMs]));
  return {
    rounds: rounds.length,
    coldStartMs: of((one) => one.coldStartMs),
    sizes: first.sizes.map((_, position) => middleSize(rounds.flatMap(({ sizes }) => sizes[position] ?? []))),
    turnsPerSecond: of((one) => one.turnsPerSecond),
    workerCpuMs: of((one) => one.workerCpuMs),
    ...(storage.length === 0 ? {} : { storeCpuMs: median(storage) }),
    answerMs: of((one) => one.answerMs),
    parkedKb: of((one) => one.parkedKb),
    recovery: {
      runs: sum(({ runs }) => runs),
      ended: sum(({ ended }) => ended),
      seconds: of(({ recovery }) => recovery.seconds),
      askedAgain: sum(({ askedAgain }) => askedAgain),
      paidAgain: sum(({ paidAgain }) => paidAgain),
    },
  };
}

/** A size that failed in one round has failed. */
function middleSize(sizes: readonly SizeNumbers[]): SizeNumbers {
  const measured = sizes.flatMap((one) => ('problem' in one ? [] : [one]));
  const failed = sizes.find((one) => 'problem' in one);
  if (failed !== undefined) return failed;
  const of = (pick: (one: (typeof measured)[number]) => number): number => median(measured.map(pick));
  return {
    turns: of(({ turns }) => turns),
    turnMs: of(({ turnMs }) => turnMs),
    keptBytes: of(({ keptBytes }) => keptBytes),
    writtenBytes: of(({ writtenBytes }) => writtenBytes),
  };
}

/** A file of results, checked as far as the tables read it. */
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
