import type { Principal } from '../../../contract/access';
import { HoldfastError } from '../../../contract/errors';
import { Keys } from '../../../service/access/keys';
import type { Identity } from '../../../service/access/parts';
import { FeedLog } from '../../../service/feed/feed-log';
import { memoryStore } from '../../support/memory-store';
import { gate } from '../../support/gate';
import { appOn, clientWith } from '../../support/service-app';

const origin = 'http://127.0.0.1';

/** A service whose run has one event and then works on, and which looks every millisecond whether the reader is still known. */
function bed() {
  const left = gate();
  const state = { storeIsAway: false, identity: undefined as Identity | undefined };
  const memory = memoryStore();
  const store = {
    ...memory,
    get: (key: string) =>
      state.storeIsAway ? Promise.reject(new HoldfastError('identity-unavailable', 'The store is away.')) : memory.get(key),
  };
  const run = {
    view: () => Promise.resolve({ nextOffset: 1, status: 'running' }),
    async *events({ signal }: { readonly signal: AbortSignal }) {
      yield { type: 'run-start', offset: 0 };
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      void left.pass();
    },
  };
  const as = (caller: Principal): unknown => clientWith({ caller, place: { tenant: caller.tenant }, run: () => run });
  const app = appOn({ as }, { store, access: { identify: () => state.identity }, heartbeatMs: 1 });
  const keys = new Keys(store);
  const ask = (path: string, init: RequestInit) => Promise.resolve(app.request(`${origin}${path}`, init));
  return {
    state,
    keys,
    ask,
    /** Resolves when the service reads the run no longer. */
    left: left.reached,
    makeKey: () => keys.create({ name: 'ann', tenant: 'acme', roles: ['reader'] }),
    async logIn(key: string): Promise<string> {
      const { headers } = await ask('/login/key', { method: 'POST', headers: { origin }, body: new URLSearchParams({ key }) });
      return headers.getSetCookie().at(-1)?.split(';')[0] ?? '';
    },
    open: async (headers: Record<string, string>) => listening(await ask('/runs/r-1/events', { headers })),
  };
}

function listening({ body }: Response) {
  const reader = body!.getReader();
  let said = '';
  const read = async (): Promise<boolean> => {
    const { done, value } = await reader.read();
    said += Buffer.from(value ?? []).toString();
    return !done;
  };
  const until = async (isEnough: () => boolean): Promise<void> => {
    while (!isEnough()) if (!(await read())) throw new Error(`The stream has ended: ${said}`);
  };
  return {
    /** Waits for more signs of life than one look takes. */
    async lives(): Promise<void> {
      const enough = said.split('still here').length + 5;
      await until(() => said.split('still here').length >= enough);
    },
    says: (text: string) => until(() => said.includes(text)),
    async end(): Promise<string> {
      while (await read());
      return said;
    },
  };
}

type Bed = ReturnType<typeof bed>;

describe('an open stream of events', () => {
  it.each<[string, (on: Bed) => Promise<{ readonly headers: Record<string, string>; readonly end: () => unknown }>]>([
    [
      'a key that is revoked',
      async ({ keys, makeKey }) => {
        const { id, key } = await makeKey();
        return { headers: { authorization: `Bearer ${key}` }, end: () => keys.revoke(id) };
      },
    ],
    [
      'a session that is logged out',
      async ({ makeKey, logIn, ask }) => {
        const cookie = await logIn((await makeKey()).key);
        return { headers: { cookie }, end: () => ask('/logout', { method: 'POST', headers: { cookie, origin } }) };
      },
    ],
    [
      'a session whose key is revoked',
      async ({ keys, makeKey, logIn }) => {
        const { id, key } = await makeKey();
        return { headers: { cookie: await logIn(key) }, end: () => keys.revoke(id) };
      },
    ],
    [
      'somebody whom `identify` knows no longer',
      async ({ state }) => {
        state.identity = { tenant: 'acme', user: 'ann', roles: ['reader'] };
        return { headers: {}, end: () => (state.identity = undefined) };
      },
    ],
    [
      'somebody whose role may not read any longer',
      async ({ state }) => {
        state.identity = { tenant: 'acme', user: 'ann', roles: ['reader'] };
        return { headers: {}, end: () => (state.identity = { tenant: 'acme', user: 'ann', roles: [] }) };
      },
    ],
  ])('of %s ends, and not before', async (_, prepare) => {
    const on = bed();
    const { headers, end } = await prepare(on);
    const stream = await on.open(headers);
    await stream.lives();
    await end();
    expect(await stream.end()).toContain('event: run-start\n');
    await on.left;
  });

  it('stays while the store of keys is away, and ends when the store is back and has the key no longer', async () => {
    const on = bed();
    const { id, key } = await on.makeKey();
    const stream = await on.open({ authorization: `Bearer ${key}` });
    on.state.storeIsAway = true;
    await stream.lives();
    on.state.storeIsAway = false;
    await stream.lives();
    await on.keys.revoke(id);
    await stream.end();
    await on.left;
  });

  it('of all runs has the runs that the newest `may` of `identify` lets the reader see', async () => {
    const [store, closing] = [memoryStore(), new AbortController()];
    const log = new FeedLog(store, 'acme', 60_000);
    const lineOf = (run: string, startedBy: string): string =>
      JSON.stringify({ run, agent: 'clerk', tags: [], startedBy, event: { offset: 0, type: 'run-start' } });
    let of = 'ann';
    const identify = (): Identity => {
      const allowed = of;
      return { tenant: 'acme', user: 'ann', roles: ['reader'], may: (_, { startedBy }) => startedBy === allowed };
    };
    const as = (caller: Principal): unknown => clientWith({ caller, place: { tenant: caller.tenant } });
    async function* none() {}
    const members = { as, feedSource: { open: none, closed: none } };
    const app = appOn(members, { store, access: { identify }, feed: {}, heartbeatMs: 1, closing: closing.signal });
    const stream = listening(await app.request(`${origin}/events/stream`));
    await log.append(0, [lineOf('bobs-first', 'bob'), lineOf('anns-first', 'ann')]);
    await stream.says('anns-first');
    of = 'bob';
    await stream.lives();
    await log.append(1, [lineOf('anns-second', 'ann'), lineOf('bobs-second', 'bob')]);
    await stream.says('bobs-second');
    closing.abort();
    const said = await stream.end();
    expect(['bobs-first', 'anns-second'].filter((run) => said.includes(run))).toEqual([]);
  });
});
