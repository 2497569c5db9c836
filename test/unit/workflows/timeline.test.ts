import type { Timeline } from '../../../workflows/timeline';

const conditions: { holds: () => boolean; resolve: () => void }[] = [];
const told = new Map<number, () => void>();
const activation = { hasSignals: true, settled: true, count: 1 };

jest.mock('@temporalio/workflow', () => ({
  sleep: (milliseconds: number) => new Promise<void>((resolve) => told.set(Date.now() + milliseconds, resolve)),
  CancellationScope: class {
    readonly cancelRequested = new Promise<never>(() => undefined);
    run = <T>(act: () => T): T => act();
    cancel = (): void => undefined;
  },
}));
jest.mock('../../../workflows/interceptors', () => ({
  activation,
  anew: (holds: () => boolean) => new Promise<void>((resolve) => conditions.push({ holds, resolve })),
}));

async function rest(): Promise<void> {
  for (;;) {
    await new Promise(setImmediate);
    const index = conditions.findIndex(({ holds }) => holds());
    if (index === -1) return;
    conditions.splice(index, 1).forEach(({ resolve }) => resolve());
  }
}

async function slept(...timers: readonly number[]) {
  conditions.length = 0;
  told.clear();
  const clock = jest.spyOn(Date, 'now').mockReturnValue(0);
  let made: typeof Timeline | undefined;
  jest.isolateModules(() => {
    // eslint-disable-next-line @typescript-eslint/no-require-imports
    made = (require('../../../workflows/timeline') as typeof import('../../../workflows/timeline')).Timeline;
  });
  const timeline = new (made as typeof Timeline)((_, make) => make() ?? Promise.reject(new Error('There is always room here.')));
  const seen: [string, number][] = [];
  const see = (what: string): void => void seen.push([what, timeline.now]);
  void timeline.follow(() => true);
  for (const at of timers) void timeline.timer('', at).fired.then(() => see(`timer ${at}`));
  clock.mockReturnValue(100);
  const answer = (name: string, at: number): void => timeline.wait({ at, room: () => undefined, take: () => see(name) });
  return { timeline, seen, answer };
}

afterEach(() => jest.restoreAllMocks());

describe('what comes to a run beside timers that are over', () => {
  it('has its turn between them by the time at which it was given, and its code has that time', async () => {
    const { seen, answer } = await slept(10, 30);
    for (const end of told.values()) end();
    answer('answer', 20);
    await rest();
    expect(seen).toEqual([
      ['timer 10', 10],
      ['answer', 20],
      ['timer 30', 30],
    ]);
  });

  it('is taken in the order in which it came, and nothing is too late because of something before it', async () => {
    const { seen, answer } = await slept(50);
    for (const end of told.values()) end();
    answer('late', 60);
    answer('in time', 40);
    await rest();
    expect(seen.map(([what]) => what)).toEqual(['late', 'in time', 'timer 50']);
  });

  it('waits for a timer that ended before, and of which the server has not told', async () => {
    const { timeline, seen, answer } = await slept(10);
    expect(timeline.isBehind).toBe(true);
    answer('answer', 20);
    await rest();
    expect(seen).toEqual([]);
    for (const end of told.values()) end();
    await rest();
    expect(seen).toEqual([
      ['timer 10', 10],
      ['answer', 100],
    ]);
  });

  it('waits for no timer that ends later', async () => {
    const { timeline, seen, answer } = await slept(200);
    expect(timeline.isBehind).toBe(false);
    answer('answer', 20);
    await rest();
    expect(seen).toEqual([['answer', 100]]);
  });
});
