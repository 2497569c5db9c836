import { join } from 'node:path';
import { asksAgain } from '../../contract/news';
import { madeBundle } from '../support/made-bundle';
import type { PlayedRun } from './activations';
import { Sandbox, threads } from './activations';
import { asked, masked } from './commands';
import type { Cut } from './cuts';
import { cutsOf, queriedOf } from './cuts';
import { packedHistories } from './packed-histories';

const root = join(__dirname, '..', '..');
const sets = [
  { folder: 'test/replay/histories/examples', agents: 'examples/support/agents.ts' },
  { folder: 'test/replay/histories/fixtures', agents: 'test/replay/fixtures/agents.ts' },
  { folder: 'test/replay/histories/scripts', agents: 'test/parity/agents.ts' },
  { folder: 'examples/backoffice/histories', agents: 'examples/backoffice/agents.ts' },
];

describe.each(sets)("the histories of $folder in other activations of Temporal's core", ({ folder, agents }) => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await Sandbox.open((await madeBundle(join(root, agents))).code, packedHistories(join(root, folder)));
  });
  afterAll(() => sandbox.close());

  it('replay as they were recorded', () => {
    expect(sandbox.runs.filter(({ error }) => error !== undefined).map(({ id, error }) => `${id}: ${error?.message}`)).toEqual([]);
  });

  it('have the same commands wherever events are cut, but for cuts that the hold prevents', async () => {
    const found: Found[] = [];
    await eachRun(sandbox, async (run) => {
      for (const cut of cutsOf(run)) found.push(await played(sandbox, run, cut));
    });
    for (const line of table(found)) process.stdout.write(`cuts: ${line}\n`);
    expect(found.filter(({ stuck, cut }) => stuck !== undefined && !cut.isHeld).map(({ stuck }) => stuck)).toEqual([]);
  });

  it('do not wake the code for events whose task has not started', async () => {
    let withheld = 0;
    await eachRun(sandbox, async (run) => {
      for (const { place, events, query } of queriedOf(run)) {
        const steps = await sandbox.play(run, [...activationsOf(run).slice(0, place), events, query, events]);
        const [held, refused, after] = steps.slice(place);
        expect([run.id, place, held?.commands, held?.failure, refused?.failure]).toEqual([run.id, place, [], undefined, asksAgain]);
        expect(after).toBeUndefined();
        withheld += run.steps[place]?.commands.length ?? 0;
      }
    });
    expect(withheld).toBeGreaterThan(0);
  });
});

/** What became of a cut. */
interface Found {
  readonly run: string;
  readonly cut: Cut;
  /** The first command that is another one. */
  readonly stuck?: string;
  /** The first command that is the same but for what it brings. */
  readonly content?: string;
}

async function played(sandbox: Sandbox, run: PlayedRun, cut: Cut): Promise<Found> {
  const { place, replaced, parts, way, kinds } = cut;
  const activations = activationsOf(run);
  const before = activations.slice(0, place);
  const steps = await sandbox.play(run, [...before, ...parts, ...activations.slice(place + replaced)]);
  const [there, here] = [run.steps, steps].map((all) =>
    all.slice(place).flatMap(({ commands, failure }) => [...commands, ...(failure === undefined ? [] : [failure])]),
  ) as [(object | string)[], (object | string)[]];
  const where = `${run.id}, ${way} behind event ${run.steps[place - 1]?.activation.historyLength}, ${kinds}`;
  const text = (command: object | string | undefined): string =>
    command === undefined ? 'nothing' : typeof command === 'string' ? `failed: ${command}` : asked(command);
  const first = (as: (command: object | string | undefined) => string): number | undefined => {
    for (let at = 0; at < Math.max(there.length, here.length); at++) if (as(there[at]) !== as(here[at])) return at;
    return undefined;
  };
  const stuck = first(text);
  if (stuck !== undefined) return { run: run.id, cut, stuck: `${where}: ${text(here[stuck])} in place of ${text(there[stuck])}` };
  const whole = (command: object | string | undefined): string => (typeof command === 'object' ? masked(command) : text(command));
  const content = first(whole);
  return {
    run: run.id,
    cut,
    ...(content === undefined ? {} : { content: `${where}: ${whole(here[content])}\n  in place of ${whole(there[content])}` }),
  };
}

function activationsOf({ steps }: PlayedRun): readonly PlayedRun['steps'][number]['activation'][] {
  return steps.map(({ activation }) => activation);
}

async function eachRun({ runs }: Sandbox, play: (run: PlayedRun) => Promise<void>): Promise<void> {
  const rest = [...runs];
  const playRest = async (): Promise<void> => {
    for (let run = rest.shift(); run !== undefined; run = rest.shift()) await play(run);
  };
  await Promise.all(Array.from({ length: threads }, playRest));
}

/** How many cuts of each kind there were, how many would leave a run stuck, and how many change only what commands bring. */
function table(found: readonly Found[]): readonly string[] {
  const kinds = new Map<string, Found[]>();
  for (const one of found) {
    const kind = `${one.cut.isHeld ? 'held' : 'made'} ${one.cut.way} ${one.cut.kinds}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), one]);
  }
  const line = (name: string, all: readonly Found[]): string => {
    const count = (key: 'stuck' | 'content'): number => all.filter((one) => one[key] !== undefined).length;
    return `${name}: ${new Set(all.map(({ run }) => run)).size} runs, ${all.length} cuts, ${count('stuck')} stuck, ${count('content')} other content`;
  };
  return [line('all', found), ...[...kinds].sort().map(([kind, all]) => line(kind, all))];
}
