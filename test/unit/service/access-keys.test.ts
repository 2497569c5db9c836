import { createHash } from 'node:crypto';
import type { MadeKey } from '../../../contract/access';
import { Keys } from '../../../service/access/keys';
import { memoryStore } from '../../support/memory-store';
import { errorOf, errorSaying } from '../../support/failures';

const minute = 60_000;
const hour = 60 * minute;
const start = Date.parse('2026-11-28T09:00:00Z');
const anna = { name: 'anna', tenant: 'acme', roles: ['reader', 'finance'] };
const form = /^hf_[0-9A-Za-z]{8}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/;
const refused = errorOf('identity-invalid', 'The key is unknown or revoked.');

const bed = () => {
  const store = memoryStore();
  const clock = { now: start };
  return { store, clock, keys: new Keys(store, () => clock.now) };
};
const atOnce = <T>(count: number, make: (at: number) => Promise<T>): Promise<readonly PromiseSettledResult<T>[]> =>
  Promise.allSettled(Array.from({ length: count }, (_, at) => make(at)));

describe('an API key', () => {
  it('identifies its owner with tenant, roles and the id as the proof, and has the form of all keys', async () => {
    const { keys, store } = bed();
    const made = await keys.create({ ...anna, expires: '90d' });
    expect(made).toEqual({
      ...{
        id: made.key.slice(3, 11),
        name: 'anna',
        tenant: 'acme',
        roles: ['reader', 'finance'],
        key: expect.stringMatching(form) as string,
      },
      ...{ created: '2026-11-28T09:00:00.000Z', expires: '2027-02-26T09:00:00.000Z' },
    });
    expect(keys.isKey(made.key)).toBe(true);
    expect(await keys.identify(made.key)).toEqual({ tenant: 'acme', user: 'anna', roles: ['reader', 'finance'], proof: `key:${made.id}` });
    expect(await keys.principalOf(made.id)).toEqual(await keys.identify(made.key));
    const secret = made.key.slice(12, 55);
    const stored = [...store.entries.values()].join();
    expect(stored).not.toContain(secret);
    expect(stored).toContain(createHash('sha256').update(secret).digest('hex'));
  });

  it('has the same length whatever its random bytes are', async () => {
    const { keys } = bed();
    for (let at = 0; at < 50; at++) expect((await keys.create({ ...anna, name: `user ${at}` })).key).toMatch(form);
  });

  it('is refused without a look into the store if a letter is wrong, missing or too many', async () => {
    const { keys, store } = bed();
    const { key } = await keys.create(anna);
    store.get = () => Promise.reject(new Error('the store was asked'));
    const at = 20;
    const typo = `${key.slice(0, at)}${key[at] === 'x' ? 'y' : 'x'}${key.slice(at + 1)}`;
    for (const wrong of [typo, key.slice(0, -1), `${key}0`, `${key}\n`, `hf_${key.slice(4)}`, 'hf_', ''])
      await expect(keys.identify(wrong)).rejects.toEqual(
        errorOf('identity-invalid', 'The key is mistyped or incomplete: its checksum is wrong.'),
      );
  });

  it('is refused in the same words if it is unknown, revoked, or has the secret of another key', async () => {
    const { keys, store } = bed();
    const [one, other, elsewhere] = [await keys.create(anna), await keys.create({ ...anna, name: 'bob' }), await bed().keys.create(anna)];
    await expect(keys.identify(elsewhere.key)).rejects.toEqual(refused);
    const recordOf = (id: string): { hash: string } => JSON.parse(store.entries.get(`key/${id}`) ?? '') as { hash: string };
    store.entries.set(`key/${one.id}`, JSON.stringify({ ...recordOf(one.id), hash: recordOf(other.id).hash }));
    await expect(keys.identify(one.key)).rejects.toEqual(refused);
    await keys.revoke(other.id);
    await expect(keys.identify(other.key)).rejects.toEqual(refused);
    await expect(keys.principalOf(other.id)).rejects.toEqual(refused);
  });

  it('says that it has expired only to somebody with the right secret', async () => {
    const { keys, store, clock } = bed();
    const { key, id } = await keys.create({ ...anna, expires: '1h' });
    clock.now += hour - 1;
    expect(await keys.identify(key)).toMatchObject({ user: 'anna' });
    clock.now += 1;
    await expect(keys.identify(key)).rejects.toEqual(errorOf('identity-invalid', `The key ${id} expired at 2026-11-28T10:00:00.000Z.`));
    const text = store.entries.get(`key/${id}`) ?? '';
    store.entries.set(`key/${id}`, text.replace(/"hash":"[0-9a-f]+"/, `"hash":"${'0'.repeat(64)}"`));
    await expect(keys.identify(key)).rejects.toEqual(refused);
  });

  it('identifies its owner also while the last use cannot be written', async () => {
    const { keys, store } = bed();
    const { key } = await keys.create(anna);
    store.set = () => Promise.reject(new Error('the disk is full'));
    expect(await keys.identify(key)).toMatchObject({ user: 'anna' });
  });

  it.each([
    ['a blank name', { name: ' ' }, /^The name of a key must be a name of 1 to 200 characters\. It is " "\.$/],
    ['a tenant with a slash', { tenant: 'a/b' }, /^The tenant of a key must be .* It is "a\/b"\.$/],
    ['no role', { roles: [] }, /^A key has 1 to 50 roles, not 0\.$/],
    ['a role with a space', { roles: ['reader', 'a b'] }, /^A role must be .* One is "a b"\.$/],
    ['a long role', { roles: ['r'.repeat(65)] }, /^A role must be /],
    ['no duration', { expires: 'soon' }, /^"soon" is no duration; /],
  ])('is not made with %s', async (_, wrong, message) => {
    const { keys, store } = bed();
    await expect(keys.create({ ...anna, ...wrong })).rejects.toEqual(errorSaying('key-refused', message));
    expect(store.entries.size).toBe(0);
  });
});

describe('two live keys of a name', () => {
  it('are the most within a tenant, however the name is written', async () => {
    const { keys } = bed();
    const made = [await keys.create(anna), await keys.create({ ...anna, name: 'Anna' })];
    await expect(keys.create({ ...anna, name: ' ANNA ' })).rejects.toEqual(
      errorSaying('key-refused', /^" ANNA " has two live keys: \w+ and \w+\. Revoke one of them first\.$/),
    );
    await keys.create({ ...anna, tenant: 'other' });
    expect((await keys.list('acme')).map(({ id }) => id).sort()).toEqual(made.map(({ id }) => id).sort());
    await keys.revoke(made[0]?.id ?? '');
    await keys.create(anna);
  });

  it('are the most also if many processes make keys at once', async () => {
    for (let round = 0; round < 20; round++) {
      const { store } = bed();
      const made = await atOnce(6, () => new Keys(store).create(anna));
      const live = await new Keys(store).list('acme');
      expect(live.length).toBeLessThanOrEqual(2);
      expect(live.map(({ id }) => id).sort()).toEqual(made.flatMap((one) => (one.status === 'fulfilled' ? [one.value.id] : [])).sort());
    }
  });

  it('count without keys that have expired', async () => {
    const { keys, clock } = bed();
    for (let at = 0; at < 2; at++) await keys.create({ ...anna, expires: '1h' });
    await expect(keys.create(anna)).rejects.toEqual(errorOf('key-refused'));
    clock.now += hour;
    await keys.create(anna);
  });
});

describe('a rotated key', () => {
  it('works beside its successor for the time that is kept, and both have the same owner, roles and lifetime', async () => {
    const { keys, clock } = bed();
    const old = await keys.create({ ...anna, expires: '90d' });
    clock.now += 80 * 24 * hour;
    const made = await keys.rotate(old.id, { keep: '1h' });
    expect(made).toMatchObject({ name: 'anna', tenant: 'acme', roles: anna.roles, expires: '2027-05-17T09:00:00.000Z' });
    clock.now += hour - 1;
    expect(await keys.identify(old.key)).toMatchObject({ user: 'anna', proof: `key:${old.id}` });
    expect(await keys.identify(made.key)).toMatchObject({ user: 'anna', proof: `key:${made.id}` });
    clock.now += 1;
    await expect(keys.identify(old.key)).rejects.toEqual(errorSaying('identity-invalid', /expired/));
  });

  it('works for 24 hours without another word, and never longer than it would without the rotation', async () => {
    const { keys } = bed();
    const [long, short] = [await keys.create(anna), await keys.create({ ...anna, name: 'bob', expires: '1h' })];
    for (const { id } of [long, short]) await keys.rotate(id);
    expect(await keys.find(long.id)).toMatchObject({ expires: '2026-11-29T09:00:00.000Z' });
    expect(await keys.find(short.id)).toMatchObject({ expires: short.expires });
  });

  it('stays revoked if it is revoked during the rotation', async () => {
    const { keys, store } = bed();
    const old = await keys.create(anna);
    const { set } = store;
    store.set = async (...given) => {
      if (given[0] === `key-end/${old.id}`) await keys.revoke(old.id);
      return set(...given);
    };
    await keys.rotate(old.id);
    await expect(keys.identify(old.key)).rejects.toEqual(refused);
    expect(await keys.list()).toHaveLength(1);
  });

  it('is refused if the name has two live keys, the key has expired, or the id is unknown', async () => {
    const { keys, clock } = bed();
    const [one] = [await keys.create({ ...anna, expires: '1h' }), await keys.create(anna)];
    await expect(keys.rotate(one.id)).rejects.toEqual(errorSaying('key-refused', /two live keys/));
    clock.now += hour;
    await expect(keys.rotate(one.id)).rejects.toEqual(errorOf('key-refused', `The key ${one.id} has expired. Make a new key.`));
    await expect(keys.rotate('00000000')).rejects.toEqual(errorOf('key-unknown'));
  });

  it('is rotated by one of many at once', async () => {
    const { keys, store } = bed();
    const { id } = await keys.create(anna);
    const done = await atOnce(4, () => new Keys(store, () => start).rotate(id));
    expect(done.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(1);
    expect((await keys.list()).length).toBeLessThanOrEqual(2);
  });
});

describe('keys of other tenants', () => {
  it('are neither listed nor found, and an id that is none of a key is refused in the same words', async () => {
    const { keys } = bed();
    const { id } = await keys.create(anna);
    expect(await keys.list('other')).toEqual([]);
    for (const act of [keys.find(id, 'other'), keys.revoke(id, 'other'), keys.rotate(id, { tenant: 'other' })])
      await expect(act).rejects.toEqual(errorOf('key-unknown', `There is no key with the id "${id}".`));
    for (const wrong of ['../up', 'x'.repeat(500), ''])
      await expect(keys.revoke(wrong, 'acme')).rejects.toEqual(errorSaying('key-unknown', /^There is no key with the id "/));
    expect(await keys.list('acme')).toHaveLength(1);
  });
});

describe('a list of keys', () => {
  it('has no secret and no hash, the oldest key first, and none that expired more than 30 days ago', async () => {
    const { keys, clock, store } = bed();
    const short = await keys.create({ ...anna, expires: '1h' });
    clock.now += minute;
    const long = await keys.create({ ...anna, name: 'bob', roles: ['reader'] });
    const facts = ({ key: _, ...rest }: MadeKey): object => rest;
    expect(await keys.list()).toEqual([short, long].map(facts));
    clock.now += 31 * 24 * hour;
    expect(await keys.list()).toEqual([facts(long)]);
    expect([...store.entries.keys()]).toEqual([`key/${long.id}`]);
  });

  it('has the last use to the minute, for which no request waits and which nothing brings back to life', async () => {
    const { keys, clock, store } = bed();
    const { key, id } = await keys.create(anna);
    const { set } = store;
    const writes: string[] = [];
    let goOn: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (goOn = resolve));
    store.set = async (...given) => {
      writes.push(given[0]);
      await gate;
      return set(...given);
    };
    for (const later of [0, minute - 1, 1]) {
      clock.now += later;
      await keys.identify(key);
    }
    expect(writes).toEqual([`key-used/${id}`, `key-used/${id}`]);
    await keys.revoke(id);
    goOn();
    await gate;
    await expect(keys.identify(key)).rejects.toEqual(refused);
    expect(await keys.list()).toEqual([]);
    const again = await keys.create(anna);
    await keys.identify(again.key);
    expect(await keys.list()).toMatchObject([{ lastUsed: new Date(clock.now).toISOString() }]);
  });
});
