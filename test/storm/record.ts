import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** How a seed ended. `broken`: nobody could play it to its end. */
export type Outcome = 'same' | 'stuck' | 'unreplayable' | 'paid wrongly' | 'different' | 'broken';

export interface Counts {
  /** Workflow tasks in the histories. */
  readonly tasks: number;
  /** Those of them whose time was up. */
  readonly timeouts: number;
  readonly failedTasks: number;
  readonly queries: number;
  /** Queries that the run refused, as it was about to go on. */
  readonly refused: number;
  /** Other queries without an answer. */
  readonly unanswered: number;
  readonly signals: number;
  readonly updates: number;
  readonly payments: number;
  readonly histories: number;
}

export interface Played {
  readonly seed: number;
  readonly outcome: Outcome;
  readonly problems: readonly string[];
  readonly agent: string;
  readonly seconds: number;
  readonly counts: Counts;
}

interface Line extends Played {
  readonly commit: string;
  readonly conditions: string;
}

/** The file of a storm: one line for each seed. Only lines of this commit and under these conditions count. */
export class StormRecord {
  private readonly counted: Map<number, Played>;

  constructor(
    private readonly file: string,
    private readonly commit: string,
    private readonly conditions: string,
  ) {
    mkdirSync(dirname(file), { recursive: true });
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    // A sitting was cut off in the middle of a line.
    if (text !== '' && !text.endsWith('\n')) appendFileSync(file, '\n');
    const lines = text.split('\n').flatMap(lineIn);
    this.counted = new Map(lines.flatMap((line) => (line.commit === commit && line.conditions === conditions ? [[line.seed, line]] : [])));
  }

  /** The seeds that have no result yet. */
  open(from: number, count: number): readonly number[] {
    return Array.from({ length: count }, (_, number) => from + number).filter((seed) => !this.counted.has(seed));
  }

  /** Keeps a result for good: no seed has a second one. */
  add(played: Played): void {
    const { commit, conditions } = this;
    if (this.counted.has(played.seed)) throw new Error(`Seed ${played.seed} has a result already.`);
    appendFileSync(this.file, `${JSON.stringify({ ...played, commit, conditions } satisfies Line)}\n`);
    this.counted.set(played.seed, played);
  }

  get bad(): readonly Played[] {
    return this.played.filter(({ outcome }) => outcome !== 'same');
  }

  /** The results of all sittings in a few lines. */
  get summary(): readonly string[] {
    const { played } = this;
    const outcomes = (['same', 'stuck', 'unreplayable', 'paid wrongly', 'different', 'broken'] as const).map(
      (outcome) => `${played.filter((one) => one.outcome === outcome).length} ${outcome}`,
    );
    const sums: Record<string, number> = {};
    for (const { counts } of played) for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + Number(count);
    return [
      `storm at ${this.commit}: ${this.conditions}`,
      ...this.bad.map(({ seed, agent, outcome, problems }) => `seed ${seed} (${agent}): ${outcome}: ${problems.join('; ')}`),
      `${played.length} seeds: ${outcomes.join(', ')}`,
      `counts: ${Object.entries(sums)
        .map(([name, sum]) => `${name} ${sum}`)
        .join(', ')}`,
    ];
  }

  private get played(): readonly Played[] {
    return [...this.counted.values()];
  }
}

function lineIn(text: string): readonly Line[] {
  try {
    return [JSON.parse(text) as Line];
  } catch {
    return [];
  }
}
