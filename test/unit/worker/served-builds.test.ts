import type { Worker } from '@temporalio/worker';
import type { HoldfastError } from '../../../contract/errors';
import type { BundleStore } from '../../../worker/bundle/bundle-store';
import type { Deployment } from '../../../worker/builds/deployment';
import { ServedBuilds } from '../../../worker/builds/served-builds';

beforeEach(() => void jest.useFakeTimers({ now: 1_000_000 }));
afterEach(() => jest.useRealTimers());

const bundle = (buildId: string): { buildId: string; code: string } => ({ buildId, code: `code of ${buildId}` });
const pass = (milliseconds: number): Promise<void> => jest.advanceTimersByTimeAsync(milliseconds);

class Bed {
  readonly kept = new Set<string>();
  readonly known = new Set<string>();
  readonly drained = new Set<string>();
  readonly open = new Map<string, number>();
  readonly asked: string[] = [];
  readonly problems: HoldfastError[] = [];
  readonly retired: string[] = [];
  current = '';
  readonly busy = new Map<string, () => void>();
  refuses: Error | undefined;
  counts: Promise<void> = Promise.resolve();
  readonly builds: ServedBuilds;

  private constructor() {
    const store = {
      builds: async () => [...this.kept],
      load: async (buildId: string) => bundle(buildId),
      remove: async (buildId: string) => void this.kept.delete(buildId),
    };
    const deployment = {
      standing: async () => ({
        current: this.current,
        replaced: undefined,
        builds: [...this.known].reverse(),
        drained: this.drained,
        token: undefined,
      }),
      polls: async () => new Map(),
      makeCurrent: async (buildId: string) => {
        if (this.refuses !== undefined) throw this.refuses;
        this.known.add((this.current = buildId));
      },
      openRuns: async (buildId: string) => {
        this.asked.push(buildId);
        await this.counts;
        return this.open.get(buildId) ?? 0;
      },
    };
    this.builds = new ServedBuilds('one', {
      start: async ({ buildId }) => this.worker(buildId),
      keep: async ({ buildId }) => void this.kept.add(buildId),
      store: store as unknown as BundleStore,
      deployment: deployment as unknown as Deployment,
      buildCheckMs: 15_000,
      unservedMs: 90_000,
      onProblem: (problem) => void this.problems.push(problem),
      retired: (buildId) => void this.retired.push(buildId),
      failed: (error) => void this.problems.push(error),
    });
  }

  static async open(): Promise<Bed> {
    const bed = new Bed();
    bed.kept.add('one');
    await bed.builds.open(bundle('one'), async () => undefined);
    bed.asked.splice(0);
    return bed;
  }

  private worker(buildId: string): Worker {
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const worker = {
      run: () => ended,
      getState: () => 'RUNNING',
      shutdown: () => (this.busy.has(buildId) ? this.busy.set(buildId, end) : end()),
    };
    return worker as unknown as Worker;
  }

  change(buildId: string, switchParts: () => () => void = () => () => undefined): Promise<void> {
    return this.builds.change(bundle(buildId), switchParts);
  }
}

describe('the builds of a process that takes over other code', () => {
  it('are the new one, and the old one for as long as it has open runs', async () => {
    const bed = await Bed.open();
    bed.open.set('one', 1);
    await bed.change('two');
    expect(bed.current).toBe('two');
    expect(bed.builds.newest).toBe('two');
    await pass(120_000);
    expect(bed.builds.ids).toEqual(['one', 'two']);
    expect(bed.kept).toEqual(new Set(['one', 'two']));
    bed.open.set('one', 0);
    await pass(20_000);
    expect(bed.builds.ids).toEqual(['two']);
    expect(bed.retired).toEqual(['one']);
  });

  it('serve an old build for a while, as the server may list a run late', async () => {
    const bed = await Bed.open();
    await bed.change('two');
    await bed.builds.check();
    expect(bed.builds.ids).toEqual(['one', 'two']);
    await pass(3_100);
    expect(bed.builds.ids).toEqual(['two']);
  });

  it('leave no code behind that nobody needs, as who saves all day would fill the disk, but that of builds of another process', async () => {
    const bed = await Bed.open();
    bed.kept.add('other');
    for (let n = 2; n <= 20; n++) await bed.change(`build ${n}`);
    expect(bed.kept.size).toBe(21);
    await pass(120_000);
    expect(bed.kept).toEqual(new Set(['other', 'build 20']));
  });

  it('go back to an older build as to a new one', async () => {
    const bed = await Bed.open();
    await bed.change('two');
    await pass(10_000);
    await bed.change('one');
    await pass(120_000);
    expect(bed.current).toBe('one');
    expect(bed.builds.ids).toEqual(['one']);
    expect(bed.kept).toEqual(new Set(['one']));
    expect(bed.problems).toEqual([]);
  });

  it('change while a call of a run that has ended goes on in an old build', async () => {
    const bed = await Bed.open();
    bed.busy.set('one', () => undefined);
    await bed.change('two');
    await pass(20_000);
    await bed.change('three');
    expect(bed.current).toBe('three');
    const back = bed.change('one');
    await pass(0);
    expect(bed.current).toBe('three');
    bed.busy.get('one')?.();
    await back;
    expect(bed.current).toBe('one');
    expect(bed.problems).toEqual([]);
  });

  it('change before a look at all of them has come to its end', async () => {
    const bed = await Bed.open();
    for (let n = 0; n < 100; n++) bed.known.add(`old ${n}`);
    let go: () => void = () => undefined;
    bed.counts = new Promise((resolve) => (go = resolve));
    const look = bed.builds.check();
    await pass(0);
    const changed = bed.change('two');
    go();
    await changed;
    await look;
    expect(bed.asked.length).toBe(1);
    await pass(20_000);
    expect(bed.asked.length).toBeGreaterThan(100);
  });

  it('ask nothing about builds that the server found drained, and whose code is not here', async () => {
    const bed = await Bed.open();
    for (const buildId of ['gone', 'open']) bed.known.add(buildId);
    bed.drained.add('gone');
    await bed.builds.check();
    expect(bed.asked).toEqual(['open']);
  });

  it('are as before when the server refuses the new one', async () => {
    const bed = await Bed.open();
    bed.refuses = new Error('it is full');
    const undone = jest.fn();
    await expect(bed.change('two', () => undone)).rejects.toThrow('it is full');
    expect(undone).toHaveBeenCalledTimes(1);
    expect(bed.builds.newest).toBe('one');
    await pass(20_000);
    expect(bed.builds.ids).toEqual(['one']);
  });

  it('end with the calls that go on in old builds', async () => {
    const bed = await Bed.open();
    bed.busy.set('one', () => undefined);
    await bed.change('two');
    await pass(20_000);
    let isOver = false;
    const stopped = bed.builds.stop().then(() => (isOver = true));
    await pass(1000);
    expect(isOver).toBe(false);
    bed.busy.get('one')?.();
    await stopped;
  });
});
