import { VisibilityGate } from '../../../host/visibility-gate';

function limitedServer(perSecond: number): {
  readonly gate: VisibilityGate;
  readonly served: string[];
  ask(caller: object, key: string): Promise<string>;
} {
  let now = 0;
  const served: string[] = [];
  const stamps: number[] = [];
  const gate = new VisibilityGate({
    now: () => now,
    wait: async (milliseconds) => {
      await Promise.resolve();
      now += milliseconds;
    },
  });
  const answer = async (key: string): Promise<string> => {
    await Promise.resolve();
    while (stamps[0] !== undefined && stamps[0] <= now - 1000) stamps.shift();
    if (stamps.length >= perSecond) throw Object.assign(new Error('namespace rate limit exceeded'), { code: 8 });
    stamps.push(now);
    served.push(key);
    return `answer to ${key}`;
  };
  return { gate, served, ask: (caller, key) => gate.ask(caller, key, () => answer(key)) };
}

describe('lists and counts share what the server answers of them in a second', () => {
  const lists = {};
  const counts = {};

  it('a hundred equal lists at once are one, and another one a moment later is the same', async () => {
    const { ask, served } = limitedServer(10);
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask(lists, 'all')));
    expect(new Set(answers)).toEqual(new Set(['answer to all']));
    await ask(lists, 'all');
    expect(served).toEqual(['all']);
  });

  it('a hundred different lists at once are all answered, in the order in which they were asked', async () => {
    const { ask, served } = limitedServer(10);
    const keys = Array.from({ length: 100 }, (_, n) => `list ${n}`);
    await Promise.all(keys.map((key) => ask(lists, key)));
    expect([...served].sort()).toEqual([...keys].sort());
    expect(served.every((key, position) => Math.abs(Number(key.slice(5)) - position) <= 4)).toBe(true);
  });

  it('of four hundred different lists at once those that would wait too long are told of the limit', async () => {
    const { ask } = limitedServer(10);
    const ends = await Promise.allSettled(Array.from({ length: 400 }, (_, n) => ask(lists, `list ${n}`)));
    const refused = ends.filter((end): end is PromiseRejectedResult => end.status === 'rejected').map(({ reason }) => reason as Error);
    expect(ends.length - refused.length).toBeGreaterThan(150);
    expect(refused.length).toBeGreaterThan(100);
    for (const error of refused)
      expect(error).toMatchObject({ code: 'server-busy', message: expect.stringContaining('namespaceRPS.visibility') });
  });

  it('a count of a worker does not wait behind a hundred lists of a service', async () => {
    const { ask, served } = limitedServer(10);
    const all = Array.from({ length: 100 }, (_, n) => ask(lists, `list ${n}`));
    await ask(counts, 'count');
    expect(served.indexOf('count')).toBeLessThan(10);
    await Promise.all(all);
  });

  it('whoever has changed something is not shown what was asked before', async () => {
    const { ask, gate, served } = limitedServer(10);
    await ask(lists, 'all');
    gate.forget();
    await ask(lists, 'all');
    await ask(lists, 'all');
    expect(served).toHaveLength(3);
  });

  it('another failure is told to all that asked the same, and whoever asks then asks again', async () => {
    const gate = new VisibilityGate();
    const failing = (): Promise<string> => Promise.reject(new Error('broken'));
    const both = await Promise.allSettled([gate.ask(lists, 'all', failing), gate.ask(lists, 'all', failing)]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await gate.ask(lists, 'all', () => Promise.resolve('well'))).toBe('well');
  });
});
