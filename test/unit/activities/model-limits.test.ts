import type { Asker, GateTurn } from '../../../activities/limits/gate';
import { Bucket, rateOf } from '../../../activities/limits/bucket';
import { Gate } from '../../../activities/limits/gate';
import { limitsForm } from '../../../activities/limits/limit';
import { Patience } from '../../../activities/limits/patience';
import { Turns } from '../../../activities/limits/turns';
import { HoldfastError } from '../../../contract/errors';

let time = 0;
beforeEach(() => {
  jest.useFakeTimers({ now: (time = 1_000_000) });
});
afterEach(() => jest.useRealTimers());

const pass = async (milliseconds: number): Promise<void> => {
  await jest.advanceTimersByTimeAsync(milliseconds);
};

const asker = (id: string, more: Partial<Asker> = {}): Asker => ({
  id,
  run: `run of ${id}`,
  since: time++,
  signal: new AbortController().signal,
  mayLeave: true,
  inPlaceMs: 20_000,
  tokens: 0,
  ...more,
});

function queue(gate: Gate) {
  const told: string[] = [];
  const turns = new Map<string, GateTurn>();
  const waits = new Map<string, number>();
  const ask = (id: string, more: Partial<Asker> = {}): void => {
    void gate.take(asker(id, more)).then(
      (turn) => {
        turns.set(id, turn);
        told.push(id);
      },
      (error: { code?: string; details?: { retryAfterMs: number } }) => {
        told.push(`${id} ${error.code ?? 'cancelled'}`);
        if (error.details !== undefined) waits.set(id, error.details.retryAfterMs);
      },
    );
  };
  const end = async (id: string): Promise<void> => {
    turns.get(id)?.end();
    await pass(0);
  };
  return { told, ask, end, waits, turns };
}

describe('turns of a limit', () => {
  it('are as many as are concurrent, and go to the oldest call first', async () => {
    const { told, ask, end } = queue(new Gate('It', { concurrent: 2 }));
    ask('late', { since: 5 });
    ask('later', { since: 6 });
    ask('last', { since: 9 });
    ask('old', { since: 1 });
    await pass(0);
    expect(told).toEqual(['late', 'later']);
    await end('late');
    await end('later');
    expect(told).toEqual(['late', 'later', 'old', 'last']);
  });

  it('are counted: calls at work, those that wait or have left, and what the last minute took', async () => {
    const turns = new Turns({ 'a/*': { concurrent: 1, perMinute: 600 } });
    const unused = { atWork: 0, waiting: 0, lastMinute: 0, tokensLastMinute: 0 };
    expect([turns.useOfModels('a/*'), turns.useOfModels('b/*'), turns.useOfTool('ship')]).toEqual([unused, undefined, unused]);
    const first = await turns.ofModel('a/one', asker('first'), 'x'.repeat(38));
    const second = turns.ofModel('a/one', asker('second', { inPlaceMs: 10 }), '');
    const left = expect(second).rejects.toMatchObject({ code: 'waiting-for-turn' });
    expect(turns.useOfModels('a/*')).toEqual({ atWork: 1, waiting: 1, lastMinute: 1, tokensLastMinute: 10 });
    await pass(20);
    await left;
    expect(turns.useOfModels('a/*')).toMatchObject({ atWork: 1, waiting: 1 });
    first?.end(500);
    expect(turns.useOfModels('a/*')).toEqual({ atWork: 0, waiting: 1, lastMinute: 1, tokensLastMinute: 500 });
    await pass(61_000);
    expect(turns.useOfModels('a/*')).toEqual(unused);
    const unmade = await turns.ofTool('ship', 2, asker('unmade'));
    expect(turns.useOfTool('ship')).toEqual({ ...unused, atWork: 1, lastMinute: 1 });
    unmade.giveBack();
    expect(turns.useOfTool('ship')).toEqual(unused);
  });

  it('go to the run with the fewest calls at work, whatever another one asks for', async () => {
    const { told, ask, end } = queue(new Gate('It', { concurrent: 2 }));
    for (const id of ['a1', 'a2', 'a3', 'a4']) ask(id, { run: 'a' });
    ask('b1', { run: 'b' });
    await pass(0);
    await end('a1');
    expect(told).toEqual(['a1', 'a2', 'b1']);
    await end('a2');
    expect(told.at(-1)).toBe('a3');
  });

  it('are lost by nobody who leaves: calls wait in place as long as there is room, then the youngest go, and come back in their order', async () => {
    const { told, ask, end, waits } = queue(new Gate('It', { concurrent: 2 }));
    for (let n = 0; n < 8; n++) ask(`call${n}`, { since: n });
    await pass(0);
    expect(told).toEqual(['call0', 'call1', 'call6 waiting-for-turn', 'call7 waiting-for-turn']);
    expect(waits.get('call7')).toBeGreaterThan(waits.get('call6') ?? Infinity);
    await end('call0');
    // A returning call takes the place of a younger call.
    for (let n = 8; n < 11; n++) ask(`call${n}`, { since: n });
    await pass(0);
    ask('call6', { since: 6 });
    await pass(0);
    expect(told.slice(4)).toEqual(['call2', 'call9 waiting-for-turn', 'call10 waiting-for-turn', 'call8 waiting-for-turn']);
  });

  it('are waited for in place for a while only, unless the call cannot leave', async () => {
    const { told, ask, end } = queue(new Gate('It', { concurrent: 1 }));
    ask('first');
    ask('second', { inPlaceMs: 3000 });
    ask('stays', { mayLeave: false });
    await pass(60_000);
    expect(told).toEqual(['first', 'second waiting-for-turn']);
    await end('first');
    expect(told.at(-1)).toBe('stays');
  });

  it('are not given to a call that was cancelled', async () => {
    const { told, ask, end } = queue(new Gate('It', { concurrent: 1 }));
    const cancelled = new AbortController();
    ask('first');
    ask('second', { signal: cancelled.signal });
    ask('third');
    await pass(0);
    cancelled.abort(new HoldfastError('cancelled', 'Stop.'));
    await end('first');
    expect(told).toEqual(['first', 'second cancelled', 'third']);
  });

  it('begin no faster than the rate of a minute allows', async () => {
    const { told, ask, end } = queue(new Gate('It', { perMinute: 60 }));
    for (let n = 0; n < 200; n++) ask(`call${n}`, { mayLeave: false });
    await pass(59_000);
    expect(told.length).toBeLessThanOrEqual(60);
    expect(told.length).toBeGreaterThan(50);
    await end('call0');
    const inFirst = told.length;
    await pass(60_000);
    expect(told.length - inFirst).toBeLessThanOrEqual(60);
  });

  it('wait for tokens that calls have taken, also for more than was foreseen', async () => {
    const { told, ask, turns } = queue(new Gate('It', { tokensPerMinute: 6000 }));
    ask('long', { tokens: 100 });
    await pass(0);
    turns.get('long')?.end(3000);
    ask('next', { tokens: 10, mayLeave: false });
    await pass(10_000);
    expect(told).toEqual(['long']);
    await pass(30_000);
    expect(told).toEqual(['long', 'next']);
  });
});

describe('turns that workers share', () => {
  function others() {
    const said: string[] = [];
    let room = 0;
    const shared = {
      ask: ({ id }: Asker): Promise<number> => {
        said.push(`ask ${id}`);
        return Promise.resolve(room-- > 0 ? 0 : 100);
      },
      end: ({ id }: Asker, tokens: number): void => void said.push(`end ${id} ${tokens}`),
      giveBack: ({ id }: Asker): void => void said.push(`back ${id}`),
      forget: (id: string): void => void said.push(`forget ${id}`),
    };
    return { shared, said, allow: (more: number) => (room = more) };
  }

  it('are asked for again and again for the first call that waits here, and for no other', async () => {
    const { shared, said, allow } = others();
    const { told, ask } = queue(new Gate('It', { concurrent: 9 }, shared));
    ask('a', { since: 1 });
    ask('b', { since: 2 });
    await pass(250);
    expect(said).toEqual(['ask a', 'ask a', 'ask a']);
    allow(2);
    await pass(100);
    expect(told).toEqual(['a', 'b']);
  });

  it('are left to others by a call that an older one comes before, or that was cancelled', async () => {
    const { shared, said } = others();
    const { ask } = queue(new Gate('It', { concurrent: 9 }, shared));
    const cancelled = new AbortController();
    ask('young', { since: 5 });
    await pass(0);
    ask('old', { since: 1, signal: cancelled.signal });
    await pass(0);
    cancelled.abort();
    await pass(100);
    expect(said).toEqual(['ask young', 'forget young', 'ask old', 'forget old', 'ask young']);
  });

  it('end with the tokens that the call has taken, and are given back by a call that was not made', async () => {
    const { shared, said, allow } = others();
    allow(2);
    const gate = new Gate('It', { tokensPerMinute: 100_000 }, shared);
    const { ask, turns } = queue(gate);
    ask('a', { tokens: 10 });
    ask('b', { tokens: 10 });
    await pass(0);
    turns.get('a')?.end(700);
    turns.get('a')?.end(700);
    turns.get('b')?.giveBack();
    expect(said).toEqual(['ask a', 'ask b', 'end a 700', 'back b']);
  });
});

describe('limits of models', () => {
  const caller = { id: 'a', run: 'r', since: 0, signal: new AbortController().signal, mayLeave: false, inPlaceMs: 1000 };

  it('hold for the models that they name: one, those of a provider, or all', async () => {
    const turns = new Turns({ 'openai/gpt-5': { concurrent: 1 }, 'openai/*': { concurrent: 2 } });
    expect(await turns.ofModel('anthropic/claude', caller, {})).toBeUndefined();
    const first = await turns.ofModel('openai/gpt-5', caller, {});
    const other = await turns.ofModel('openai/gpt-4', { ...caller, id: 'b' }, {});
    const told: string[] = [];
    void turns.ofModel('openai/gpt-5', { ...caller, id: 'c' }, {}).then(() => told.push('gpt-5'));
    void turns.ofModel('openai/gpt-4', { ...caller, id: 'd' }, {}).then(() => told.push('gpt-4'));
    other?.end();
    await pass(0);
    expect(told).toEqual(['gpt-4']);
    first?.end();
    await pass(0);
    expect(told).toEqual(['gpt-4', 'gpt-5']);
  });

  it('go on with the calls at work when other limits take their place and they stay as they are', async () => {
    const before = new Turns({ 'openai/*': { concurrent: 1 }, '*': { concurrent: 9 } });
    const first = await before.ofModel('openai/gpt-5', caller, {});
    const tool = await before.ofTool('print', 1, caller);
    const after = new Turns({ 'openai/*': { concurrent: 1 }, '*': { concurrent: 8 } }, undefined, undefined, before);
    const told: string[] = [];
    void after.ofModel('openai/gpt-5', { ...caller, id: 'b' }, {}).then(() => told.push('model'));
    void after.ofTool('print', 1, { ...caller, id: 'b' }).then(() => told.push('tool'));
    await pass(0);
    expect(told).toEqual([]);
    tool.end();
    first?.end();
    await pass(0);
    expect(told).toEqual(['tool', 'model']);
  });

  it('that have changed hold for the calls that come from then on', async () => {
    const before = new Turns({ 'openai/*': { concurrent: 1 } });
    await before.ofModel('openai/gpt-5', caller, {});
    const after = new Turns({ 'openai/*': { concurrent: 2 } }, undefined, undefined, before);
    expect(await after.ofModel('openai/gpt-5', { ...caller, id: 'b' }, {})).toBeDefined();
    expect(await after.ofModel('openai/gpt-5', { ...caller, id: 'c' }, {})).toBeDefined();
  });

  it('refuse what is none, and say where', () => {
    const problem = (given: unknown): string | undefined => limitsForm.problem(given, 'models.limits');
    expect(problem({ 'openai/*': { concurrent: 5, perMinute: 300, tokensPerMinute: 1e6 }, '*': { concurrent: 9 } })).toBeUndefined();
    expect(problem([])).toBe('models.limits must be an object such as { "openai/*": { concurrent: 5, perMinute: 300 } }. It is []');
    expect(problem({ openai: { concurrent: 5 } })).toMatch(/models\.limits\["openai"\] names no model: write "openai\/gpt-5"/);
    expect(problem({ 'openai/gpt-*': { concurrent: 5 } })).toMatch(/names no model/);
    expect(problem({ 'openai/*': 5 })).toMatch(
      /models\.limits\["openai\/\*"\] must be an object with concurrent, perMinute, tokensPerMinute\. It is 5/,
    );
    expect(problem({ 'openai/*': {} })).toMatch(/limits nothing: give it concurrent, perMinute or tokensPerMinute/);
    expect(problem({ 'openai/*': { concurent: 5 } })).toMatch(/there is no option .*concurent"; did you mean concurrent\?/);
    for (const wrong of [0, -1, 1.5, '5', Infinity, null])
      expect(problem({ 'openai/*': { concurrent: wrong } })).toMatch(/concurrent must be a whole number of at least 1/);
  });
});

it.each([1, 7, 60, 300])('the rate of a minute of %s gives no more than that in any minute', (perMinute) => {
  let now = 0;
  const rate = rateOf(perMinute);
  const bucket = new Bucket(rate, () => now);
  const taken: number[] = [];
  while (now < 180_000) {
    const wait = bucket.waitFor(1);
    if (wait > 0) {
      now += wait;
      continue;
    }
    bucket.take(1);
    taken.push(now);
    if (taken.length > 4 * perMinute + 10) break;
  }
  const most = Math.max(
    ...taken
      .filter((_, n) => n % Math.ceil(taken.length / 500) === 0)
      .map((from) => taken.filter((at) => at >= from && at < from + 60_000).length),
  );
  expect(most).toBeLessThanOrEqual(perMinute);
  expect(most).toBeGreaterThanOrEqual(Math.floor(perMinute * 0.9));
});

describe('the patience of a call', () => {
  const info = (attempt: number, waits?: object) => ({
    attempt,
    retryPolicy: {},
    ...(waits === undefined ? {} : { heartbeatDetails: waits }),
  });
  const hour = 3_600_000;

  it('counts no attempt that only waited', () => {
    const waited = { times: 40, turnMs: 100_000, busyMs: 200_000 };
    expect(new Patience(info(42, waited), 5, hour).attempt).toBe(2);
    expect(new Patience(info(46, waited), 5, hour).isSpent).toBe(true);
    expect(new Patience(info(45, waited), 5, hour).after({})).toEqual({ over: 'attempts' });
  });

  it('waits for a busy provider for an hour in all, however often, and not for a turn', () => {
    let waits = { times: 0, turnMs: 0, busyMs: 0 };
    let tries = 0;
    for (;;) {
      const again = new Patience(info(++tries, waits), 5, hour).after({ waitsFor: 'provider' });
      if ('over' in again) {
        expect(again.over).toBe('patience');
        break;
      }
      waits = again.waits;
      const turn = new Patience(info(++tries, waits), 5, hour).after({ waitsFor: 'turn', retryAfterMs: hour });
      if ('waits' in turn) waits = turn.waits;
    }
    expect(waits.busyMs).toBe(hour);
    expect(tries).toBeGreaterThan(100);
  });

  it('waits as long as the provider asks for and little longer, however often it was refused', () => {
    for (const times of [0, 5, 20]) {
      const waits = times === 0 ? undefined : { times, turnMs: 0, busyMs: 0 };
      const again = new Patience(info(times + 1, waits), 5, hour).after({ waitsFor: 'provider', retryAfterMs: 20_000 });
      expect('waitMs' in again && again.waitMs).toBeGreaterThanOrEqual(20_000);
      expect('waitMs' in again && again.waitMs).toBeLessThanOrEqual(25_000);
    }
  });

  it('leaves calls to the server whose attempts it counts, as of tools that never wait', () => {
    const counted = new Patience({ attempt: 3, retryPolicy: { maximumAttempts: 5 } }, 5, hour);
    expect(counted.counts).toBe(false);
    expect(counted.attempt).toBe(3);
    expect(new Patience({ attempt: 3, retryPolicy: { maximumAttempts: 0 } }, 5, hour).counts).toBe(true);
  });
});
