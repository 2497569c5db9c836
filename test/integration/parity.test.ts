import { join } from 'node:path';
import { comparable } from '../parity/comparable';
import { scriptOf } from '../parity/generate';
import { models } from '../parity/model';
import type { Played } from '../parity/play';
import { follow, lead } from '../parity/play';
import type { Script } from '../parity/script';
import { kinds, sharesOf } from '../parity/shares';
import { shrunk } from '../parity/shrink';
import { tableInMemory, tableOnServer } from '../parity/tables';
import { halves, outputs, tools } from '../parity/tools';
import type { Temporal } from '../support/temporal';
import { openTemporal } from '../support/temporal';
import type { TestBed } from '../support/test-bed';
import { startTestBed } from '../support/test-bed';

/** `HOLDFAST_SEED=4711` makes all scripts of a seed again, `HOLDFAST_SEED=4711/17` one of them. */
const [seed = '', alone] = (process.env['HOLDFAST_SEED'] ?? String(Date.now() % 1_000_000)).split('/');
const numbers = alone === undefined ? Array.from({ length: 200 }, (_, number) => String(number)) : [alone];
const atOnce = 16;
/** In parts of a hundred. */
const leastShare = 20;

interface Compared {
  readonly memory: Played;
  readonly server: Played;
}

/** What makes a run wait for the server, which makes calls again after half a second, a second and so on. Those begin first. */
function waitsOf({ said }: Script): number {
  return said.filter((one) => 'fails' in one || ('calls' in one && one.calls.some(({ name }) => name === 'slow' || name === 'lost')))
    .length;
}

const differs = (compared: Compared): boolean => firstDifference(compared) !== '';

/** The first line that is not the same, in short. */
function firstDifference({ memory, server }: Compared): string {
  const [there, here] = [comparable(server), comparable(memory)];
  const line = here.findIndex((text, position) => text !== there[position]);
  if (line === -1 && here.length === there.length) return '';
  return [here, there].map((lines) => lines.at(line)?.slice(0, 300) ?? 'nothing').join('\n  and on the server ');
}

describe('random scripts', () => {
  let bed: TestBed;
  let temporal: Temporal;
  let runs = 0;
  const compared: Compared[] = [];
  beforeAll(async () => {
    temporal = await openTemporal();
    bed = await startTestBed(() => ({ parts: [] }), {
      agents: join(__dirname, '..', 'parity', 'agents.ts'),
      tools,
      outputs,
      middleware: halves,
      models: { providers: { test: models } },
      maxCachedRuns: 1000,
      // So many runs at once keep the worker waiting longer than a second.
      stickyTimeoutMs: 10_000,
    });
  });
  afterAll(async () => {
    await bed.close();
    await temporal.close();
  });

  const play = async (script: Script): Promise<Compared> => {
    const id = `parity-${seed}-${runs++}`;
    const memory = await lead(script, id, tableInMemory);
    const server = await follow(memory, id, (one, runId) => tableOnServer(bed.client, temporal, one, runId));
    return { memory, server };
  };

  it('give the same outcome, transcript and events in memory and on a server', async () => {
    const began = Date.now();
    const rest = [...numbers.map((number) => scriptOf(`${seed}/${number}`))].sort((one, other) => waitsOf(other) - waitsOf(one));
    const playOn = async (): Promise<void> => {
      for (let script = rest.shift(); script !== undefined; script = rest.shift()) compared.push(await play(script));
    };
    await Promise.all(Array.from({ length: atOnce }, playOn));
    const seconds = Math.round((Date.now() - began) / 1000);
    const shares = sharesOf(compared.map(({ memory }) => memory));
    process.stdout.write(`parity: seed ${seed}, ${compared.length} scripts in ${seconds} s, of a hundred with ${JSON.stringify(shares)}\n`);
    const wrong = compared.filter(differs);
    const [first] = wrong;
    if (first === undefined) return;
    for (const one of wrong) process.stdout.write(`parity: HOLDFAST_SEED=${one.memory.script.name} differs: ${firstDifference(one)}\n`);
    const simplest = await shrunk(first.memory.script, async (script) => differs(await play(script)), Date.now() + 60_000);
    process.stdout.write(`parity: the first one, as simple as it was found: ${JSON.stringify(simplest)}\n`);
    const { memory, server } = await play(simplest);
    expect(comparable(server)).toEqual(comparable(memory));
    expect(comparable(first.server)).toEqual(comparable(first.memory));
  }, 300_000);

  it('have an error, an interrupt, parallel calls or a retry in a fifth of them each', () => {
    if (alone !== undefined) return;
    const shares = sharesOf(compared.map(({ memory }) => memory));
    for (const kind of kinds) expect([kind, Math.max(shares[kind], leastShare)]).toEqual([kind, shares[kind]]);
  });
});
