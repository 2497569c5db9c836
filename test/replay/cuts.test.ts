import { join } from 'node:path';
import { asksAgain } from '../../contract/news';
import { madeBundle } from '../support/made-bundle';
import type { Activation, Command, PlayedRun, Step } from './activations';
import { Sandbox, WorkflowActivation, threads } from './activations';
import { asked, isEnd, masked } from './commands';
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

describe.each(sets)('the events of $folder, cut into other activations', ({ folder, agents }) => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await Sandbox.open((await madeBundle(join(root, agents))).code, packedHistories(join(root, folder)));
  });
  afterAll(() => sandbox.close());

  it('replay as they were recorded', () => {
    expect(sandbox.runs.filter(({ error }) => error !== undefined).map(({ id, error }) => `${id}: ${error?.message}`)).toEqual([]);
  });

  it('make the same commands wherever core may cut them, but for cuts that only a query without a task could make', async () => {
    const found: Found[] = [];
    await eachRun(sandbox, async (run) => {
      for (const cut of cutsOf(run)) found.push(await played(sandbox, run, cut));
    });
    for (const line of table(found)) process.stdout.write(`cuts: ${line}\n`);
    expect(found.length).toBeGreaterThan(0);
    expect(found.filter(({ onlyHeld }) => !onlyHeld).flatMap(({ stuck }) => stuck ?? [])).toEqual([]);
  });

  it('do not wake the code for a query whose task has not started, and the query fails', async () => {
    let withheld = 0;
    await eachRun(sandbox, async (run) => {
      for (const { place, events, query } of queriedOf(run)) {
        const steps = await sandbox.play(run, [...activationsOf(run).slice(0, place), events, query]);
        const [held, refused] = steps.slice(place);
        expect([run.id, place, held?.commands, held?.failure, refused?.failure]).toEqual([run.id, place, [], undefined, asksAgain]);
        withheld += run.steps[place]?.commands.length ?? 0;
      }
    });
    expect(withheld).toBeGreaterThan(0);
  });
});

interface Found {
  readonly run: string;
  readonly kind: string;
  /** Core makes the cut only for a query without a task, which the hold prevents. */
  readonly onlyHeld: boolean;
  readonly stuck?: string;
  readonly content?: string;
}

async function played(sandbox: Sandbox, run: PlayedRun, cut: Cut): Promise<Found> {
  const { place, replaced, parts, way, kinds } = cut;
  const activations = activationsOf(run);
  const others = [...parts, ...activations.slice(place + replaced)].map(withAllCommands);
  const steps = await sandbox.play(run, [...activations.slice(0, place), ...others]);
  // A run that ends in the first part gets no second part.
  const endsEarly = parts.length > 1 && steps[place]?.commands.some(isEnd) === true;
  const onlyHeld = cut.isHeld || endsEarly;
  const [there, here] = [doneFrom(place, run.steps), doneFrom(place, steps)];
  const event = run.steps[place - 1]?.activation.historyLength;
  const differs = (text: (done: Done | undefined) => string): string | undefined => {
    const at = Array.from({ length: Math.max(there.length, here.length) }, (_, n) => n).find((n) => text(there[n]) !== text(here[n]));
    return at === undefined
      ? undefined
      : `${run.id}, behind event ${event}, ${way} ${kinds}: ${text(here[at])} in place of ${text(there[at])}`;
  };
  const stuck = differs((done) => named(done, asked));
  const content = stuck === undefined ? differs((done) => named(done, masked)) : undefined;
  return {
    ...{ run: run.id, kind: `${endsEarly ? 'ending' : onlyHeld ? 'held' : 'made'} ${way} ${kinds}`, onlyHeld },
    ...(stuck === undefined ? {} : { stuck }),
    ...(content === undefined ? {} : { content }),
  };
}

/** Gives history an event per earlier command, because a run that lacks events fails the task. */
function withAllCommands(activation: Activation, position: number): Activation {
  return WorkflowActivation.fromObject({ ...activation, historyLength: activation.historyLength + (position === 0 ? 100 : 200) });
}

type Done = Command | string;

function doneFrom(place: number, steps: readonly Step[]): readonly Done[] {
  return steps
    .slice(place)
    .flatMap(({ commands, failure }): readonly Done[] => (failure === undefined ? commands : [...commands, failure]));
}

function named(done: Done | undefined, name: (command: Command) => string): string {
  return done === undefined ? 'nothing' : typeof done === 'string' ? `the failure "${done}"` : name(done);
}

function activationsOf({ steps }: PlayedRun): readonly Activation[] {
  return steps.map(({ activation }) => activation);
}

async function eachRun({ runs }: Sandbox, play: (run: PlayedRun) => Promise<void>): Promise<void> {
  const rest = [...runs];
  const playRest = async (): Promise<void> => {
    for (let run = rest.shift(); run !== undefined; run = rest.shift()) await play(run);
  };
  await Promise.all(Array.from({ length: threads }, playRest));
}

function table(found: readonly Found[]): readonly string[] {
  const line = (name: string, all: readonly Found[]): string =>
    `${name}: ${new Set(all.map(({ run }) => run)).size} histories, ${all.length} cuts, ` +
    `${all.filter(({ stuck }) => stuck).length} stuck, ${all.filter(({ content }) => content).length} with other content`;
  const kinds = [...new Set(found.map(({ kind }) => kind))].sort();
  const sums = ['made', 'held', 'ending'].map((sum) =>
    line(
      `all ${sum}`,
      found.filter(({ kind }) => kind.startsWith(sum)),
    ),
  );
  return [
    ...sums,
    ...kinds.map((kind) =>
      line(
        kind,
        found.filter((one) => one.kind === kind),
      ),
    ),
  ];
}
