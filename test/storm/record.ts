import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** `broken`: the seed could not be played to the end. */
export type Outcome = 'same' | 'stuck' | 'unreplayable' | 'paid wrongly' | 'different' | 'broken';

export interface Counts {
  readonly tasks: number;
  readonly timeouts: number;
  readonly failedTasks: number;
  readonly queries: number;
  /** Queries refused because the run was about to continue as new. */
  readonly refused: number;
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

/** One line per seed. Only lines of the commit and the conditions count. */
export class StormRecord {
  private readonly counted: Map<number, Played>;

  constructor(
    private readonly file: string,
    private readonly commit: string,
    private readonly conditions: string,
  ) {
    mkdirSync(dirname(file), { recursive: true });
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    if (text !== '' && !text.endsWith('\n')) appendFileSync(file, '\n');
    const lines = text.split('\n').flatMap(lineIn);
    this.counted = new Map(lines.flatMap((line) => (line.commit === commit && line.conditions === conditions ? [[line.seed, line]] : [])));
  }

  open(from: number, count: number): readonly number[] {
    return Array.from({ length: count }, (_, number) => from + number).filter((seed) => !this.counted.has(seed));
  }

  add(played: Played): void {
    const { commit, conditions } = this;
    if (this.counted.has(played.seed)) throw new Error(`Seed ${played.seed} has a result already.`);
    appendFileSync(this.file, `${JSON.stringify({ ...played, commit, conditions } satisfies Line)}\n`);
    this.counted.set(played.seed, played);
  }

  get bad(): readonly Played[] {
    return this.played.filter(({ outcome }) => outcome !== 'same');
  }

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
