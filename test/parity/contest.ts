import type { Temporal } from '../support/temporal';
import type { ParityBeds } from './bed';
import { comparable } from './comparable';
import { scriptOf } from './generate';
import type { Compared } from './play';
import { faultsOf, follow, lead } from './play';
import type { Script } from './script';
import type { Kind } from './shares';
import { sharesOf } from './shares';
import { shrunk } from './shrink';
import { tableInMemory, tableOnServer } from './tables';
import { cameTooLate } from './too-late';

export interface Contest {
  readonly seed: string;
  readonly compared: readonly Compared[];
  readonly wrong: readonly Compared[];
  /** Scripts that nobody could play to their end. */
  readonly broken: readonly string[];
  readonly shares: Readonly<Record<Kind, number>>;
}

const atOnce = 16;
/** Of those that somebody came too late for, while the machine has less to do. */
const lateAtOnce = 2;
const mostTries = 3;

/** Plays scripts in memory and on a server. */
export class Stage {
  private runs = 0;
  private late = 0;

  constructor(
    private readonly beds: ParityBeds,
    private readonly temporal: Temporal,
    private readonly seed: string,
  ) {}

  /** Again where the harness came too late for a deadline: a defect shows each time. */
  async play(script: Script): Promise<Compared> {
    for (let tries = 1; ; tries++) {
      const compared = await this.playOnce(script);
      if (tries === mostTries || !cameTooLate(compared)) return compared;
      this.late += 1;
    }
  }

  private async playOnce(script: Script): Promise<Compared> {
    const id = `parity-${this.seed}-${this.runs++}`;
    const memory = await lead(script, id, tableInMemory);
    const server = await follow(memory, id, async (one, runId, places) =>
      tableOnServer(await this.beds.bedFor(one), this.temporal, one, runId, places),
    );
    return { memory, server };
  }

  /** Plays those of a seed that have these numbers, and says what came of it. */
  async playAll(numbers: readonly string[], say: (line: string) => void): Promise<Contest> {
    const { seed } = this;
    const began = Date.now();
    const compared: Compared[] = [];
    const rest = [...numbers.map((number) => scriptOf(`${seed}/${number}`))].sort((one, other) => waitsOf(other) - waitsOf(one));
    const broken: string[] = [];
    const late: Script[] = [];
    const playThem = async (scripts: Script[], playOne: (script: Script) => Promise<Compared | undefined>): Promise<void> => {
      for (let script = scripts.shift(); script !== undefined; script = scripts.shift()) {
        try {
          const one = await playOne(script);
          if (one === undefined) late.push(script);
          else compared.push(one);
        } catch (error) {
          broken.push(script.name);
          say(
            `parity: HOLDFAST_SEED=${script.name} (${script.agent}) cannot be played: ${error instanceof Error ? (error.stack ?? '') : String(error)}`,
          );
        }
      }
    };
    const inTime = async (script: Script): Promise<Compared | undefined> => {
      const one = await this.playOnce(script);
      return cameTooLate(one) ? undefined : one;
    };
    await Promise.all(Array.from({ length: atOnce }, () => playThem(rest, inTime)));
    this.late += late.length;
    await Promise.all(Array.from({ length: lateAtOnce }, () => playThem(late, (script) => this.play(script))));
    const seconds = Math.round((Date.now() - began) / 1000);
    const shares = sharesOf(compared.map(({ memory }) => memory));
    say(
      `parity: seed ${seed}, ${compared.length} scripts in ${seconds} s, ${this.beds.kills} kills, ${this.late} played again, of a hundred with ${JSON.stringify(shares)}`,
    );
    const wrong = compared.filter(differs);
    for (const one of wrong)
      say(`parity: HOLDFAST_SEED=${one.memory.script.name} (${one.memory.script.agent}) differs: ${delayOf(one)}${whatDiffers(one)}`);
    return { seed, compared, wrong, broken, shares };
  }

  /** As simple as it is found within a minute. */
  simplest({ memory }: Compared): Promise<Script> {
    return shrunk(memory.script, async (script) => differs(await this.play(script)), Date.now() + 60_000);
  }
}

/** What makes a run wait for the server, which makes calls again after half a second, a second and so on. Those begin first. */
function waitsOf({ agent, said, parts = {} }: Script): number {
  if (agent === 'hurried') return 100;
  return [said, ...Object.values(parts)]
    .flat()
    .filter((one) => 'fails' in one || ('calls' in one && one.calls.some(({ name }) => name === 'slow' || name === 'lost'))).length;
}

/** What may be a fault of the machine, which has too much to do. */
function delayOf(compared: Compared): string {
  if (cameTooLate(compared)) return `somebody came too late for a deadline, ${mostTries} times. `;
  const { silentMs } = compared.server.end;
  return silentMs === undefined ? '' : `nothing came from the server for ${silentMs / 1000} s. `;
}

export const differs = (compared: Compared): boolean => whatDiffers(compared) !== '';

/** The first line that is not the same, from where it differs; or what neither of them may show. */
export function whatDiffers({ memory, server }: Compared): string {
  const [fault] = [...faultsOf(memory).map((text) => `in memory: ${text}`), ...faultsOf(server).map((text) => `on the server: ${text}`)];
  const [there, here] = [comparable(server), comparable(memory)];
  const line = here.findIndex((text, position) => text !== there[position]);
  if (line === -1 && here.length === there.length) return fault ?? '';
  const [one = 'nothing', other = 'nothing'] = [here, there].map((lines) => lines.at(line));
  let same = 0;
  while (same < one.length && one[same] === other[same]) same++;
  const from = Math.max(0, same - 60);
  const shown = (text: string): string => `${text.slice(0, 60)} … ${text.slice(from, from + 300)}`;
  return `${shown(one)}\n  and on the server ${shown(other)}`;
}
