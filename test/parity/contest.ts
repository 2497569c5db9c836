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
  readonly compared: readonly Compared[];
  readonly wrong: readonly Compared[];
  readonly broken: readonly string[];
  readonly missed: readonly string[];
  readonly shares: Readonly<Record<Kind, number>>;
}

const atOnce = 16;

export class Stage {
  private runs = 0;

  constructor(
    private readonly beds: ParityBeds,
    private readonly temporal: Temporal,
    private readonly name: string,
  ) {}

  async play(script: Script): Promise<Compared> {
    const id = `parity-${this.name}-${this.runs++}`;
    const memory = await lead(script, id, tableInMemory);
    const server = await follow(memory, id, async (one, runId, places) =>
      tableOnServer(await this.beds.bedFor(one), this.temporal, one, runId, places),
    );
    return { memory, server };
  }

  async playAll(names: readonly string[], say: (line: string) => void): Promise<Contest> {
    const began = Date.now();
    const compared: Compared[] = [];
    const rest = names.map(scriptOf).sort((one, other) => waitsOf(other) - waitsOf(one));
    const broken: string[] = [];
    const missed: string[] = [];
    const playRest = async (): Promise<void> => {
      for (let script = rest.shift(); script !== undefined; script = rest.shift()) {
        try {
          const one = await this.play(script);
          if (cameTooLate(one)) missed.push(script.name);
          else compared.push(one);
        } catch (error) {
          broken.push(`${script.name} (${script.agent}) cannot be played: ${error instanceof Error ? (error.stack ?? '') : String(error)}`);
        }
      }
    };
    await Promise.all(Array.from({ length: atOnce }, playRest));
    const seconds = Math.round((Date.now() - began) / 1000);
    const shares = sharesOf(compared.map(({ memory }) => memory));
    say(`parity: ${compared.length} scripts in ${seconds} s, ${this.beds.kills} kills, of a hundred with ${JSON.stringify(shares)}`);
    for (const line of broken) say(`parity: ${line}`);
    if (missed.length > 0) say(`parity: not compared, as the machine was too slow for their deadlines: ${missed.join(' ')}`);
    const wrong = compared.filter(differs);
    for (const one of wrong)
      say(`parity: ${one.memory.script.name} (${one.memory.script.agent}) differs: ${delayOf(one)}${whatDiffers(one)}`);
    return { compared, wrong, broken, missed, shares };
  }

  simplest({ memory }: Compared): Promise<Script> {
    return shrunk(memory.script, async (script) => differs(await this.play(script)), Date.now() + 60_000);
  }
}

/** Slow scripts begin first: the server retries after half a second, a second and so on. */
function waitsOf({ agent, said, parts = {} }: Script): number {
  if (agent === 'hurried') return 100;
  return [said, ...Object.values(parts)]
    .flat()
    .filter((one) => 'fails' in one || ('calls' in one && one.calls.some(({ name }) => name === 'slow' || name === 'lost'))).length;
}

/** Names a delay that an overloaded machine may explain. */
function delayOf(compared: Compared): string {
  const { silentMs } = compared.server.end;
  return silentMs === undefined ? '' : `nothing came from the server for ${silentMs / 1000} s. `;
}

export const differs = (compared: Compared): boolean => whatDiffers(compared) !== '';

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
