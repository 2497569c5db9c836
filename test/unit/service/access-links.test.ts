import type { Interrupt } from '../../../contract/interrupts';
import type { Link } from '../../../service/access/links';
import { Links, shownHash } from '../../../service/access/links';
import { memoryStore } from '../../support/memory-store';
import { errorOf, errorSaying } from '../../support/failures';
import { gate } from '../../support/gate';

const hour = 3_600_000;
const content = (changes: Partial<Link> = {}): Omit<Link, 'id'> => ({
  tenant: 'acme',
  run: 'r-1',
  interrupt: 'a.pay',
  hash: 'h',
  user: 'ada',
  roles: ['finance'],
  expires: Date.now() + hour,
  ...changes,
});

describe('a signed link', () => {
  afterEach(() => jest.useRealTimers());
  const store = memoryStore();
  const links = new Links(store);
  const invalid = errorOf('link-invalid', 'The link is unknown, changed or incomplete.');

  it('says what it was made for, under an id of its own', async () => {
    const made = content();
    const [one, other] = [await links.read(await links.make(made)), await links.read(await links.make(made))];
    expect(one).toEqual({ ...made, id: expect.stringMatching(/^[\w-]{16}$/) });
    expect(other.id).not.toBe(one.id);
  });

  it('is known to all services of a store, and its secret is 32 random bytes', async () => {
    expect(await new Links(store).read(await links.make(content()))).toMatchObject({ user: 'ada' });
    expect(store.entries.get('links/secret')).toMatch(/^[0-9a-f]{64}$/);
  });

  it('has one secret where two services begin at once', async () => {
    const fresh = memoryStore();
    const [one, other] = await Promise.all([new Links(fresh).make(content()), new Links(fresh).make(content())]);
    const read = new Links(fresh);
    expect([await read.read(one), await read.read(other)]).toHaveLength(2);
  });

  it.each<[string, (token: string) => string]>([
    ['nothing', () => ''],
    ['a guess', () => 'e30.e30'],
    ['a long text', () => 'a'.repeat(100_000)],
    ['a truncated link', (token) => token.slice(0, -1)],
    ['a link with an end', (token) => `${token}.x`],
    ['a link without a signature', (token) => token.replace(/\..*/, '.')],
    ['a link with another signature', (token) => token.replace(/\..*/, `.${'A'.repeat(43)}`)],
    [
      'a signature with the spare bits of its last letter',
      (token) => token.slice(0, -1) + String.fromCharCode(token.charCodeAt(token.length - 1) + 1),
    ],
    ['another tenant', (token) => rewritten(token, 'acme', 'evil')],
    ['another person', (token) => rewritten(token, 'ada', 'bob')],
  ])('is refused with one message: %s', async (_, change) => {
    await expect(links.read(change(await links.make(content())))).rejects.toMatchObject(invalid);
  });

  it('is refused by the service of another secret, and by its own after the secret was deleted', async () => {
    const token = await links.make(content());
    await expect(new Links(memoryStore()).read(token)).rejects.toMatchObject(invalid);
    const lost = memoryStore();
    const ofLost = new Links(lost);
    const mine = await ofLost.make(content());
    await lost.delete('links/secret');
    await expect(ofLost.read(mine)).rejects.toMatchObject(invalid);
  });

  it('ends at its expiry', async () => {
    jest.useFakeTimers({ now: 0 });
    const token = await links.make(content({ expires: hour }));
    jest.setSystemTime(hour - 1);
    await links.read(token);
    jest.setSystemTime(hour);
    await expect(links.read(token)).rejects.toMatchObject(errorOf('link-ended', 'The link has expired.'));
  });

  it('is not made longer than mail programs carry', async () => {
    await expect(links.make(content({ interrupt: 'a'.repeat(2_000) }))).rejects.toMatchObject(
      errorSaying('request-invalid', 'at most 2000'),
    );
  });

  it('lasts three days, if the configuration says nothing else', () => {
    expect([links.expires, new Links(store, { expires: '2h' }).expires]).toEqual(['3d', '2h']);
  });
});

describe('the use of a link', () => {
  afterEach(() => jest.useRealTimers());
  const used = errorOf('link-ended', 'The link was used.');

  async function bed(): Promise<{ links: Links; link: Link; token: string }> {
    const links = new Links(memoryStore());
    const token = await links.make(content());
    return { links, link: await links.read(token), token };
  }

  it('ends the link when the decision counts', async () => {
    const { links, link, token } = await bed();
    await links.use(link, async () => undefined);
    await expect(links.read(token)).rejects.toMatchObject(used);
    await expect(links.use(link, async () => undefined)).rejects.toMatchObject(used);
  });

  it('lets one of two simultaneous uses decide', async () => {
    const { links, link } = await bed();
    const { pass, reached, open } = gate();
    const decided: string[] = [];
    const first = links.use(link, async () => {
      await pass();
      decided.push('first');
    });
    await reached;
    await expect(links.use(link, async () => void decided.push('second'))).rejects.toMatchObject(used);
    open();
    await first;
    expect(decided).toEqual(['first']);
  });

  it('leaves the link where the decision failed', async () => {
    const { links, link, token } = await bed();
    await expect(links.use(link, () => Promise.reject(new Error('no network')))).rejects.toThrow('no network');
    await links.use(await links.read(token), async () => undefined);
    await expect(links.read(token)).rejects.toMatchObject(used);
  });

  it('leaves the link where the process ended in the middle of a decision', async () => {
    jest.useFakeTimers({ now: 0 });
    const { links, link, token } = await bed();
    void links.use(link, () => new Promise(() => undefined));
    await expect(links.use(link, async () => undefined)).rejects.toMatchObject(used);
    jest.setSystemTime(61_000);
    await links.use(await links.read(token), async () => undefined);
  });

  it('counts where the store is lost right after the decision', async () => {
    const store = memoryStore();
    const links = new Links({
      ...store,
      set: (key, value, options) => (value === 'used' ? Promise.reject(new Error('lost')) : store.set(key, value, options)),
    });
    const link = await links.read(await links.make(content()));
    expect(await links.use(link, async () => undefined)).toBeUndefined();
  });
});

describe('what a link is bound to', () => {
  const base = { id: 'a.pay', address: [], agent: 'a' };
  const approval: Interrupt = { ...base, kind: 'approval', tool: 'pay', callId: 'c', input: { amount: 4 }, inputHash: 'h1' };
  const policy = { name: 'refunds', version: 'v1', stage: { number: 1, of: 2, need: 1 }, given: [] };
  const question: Interrupt = { ...base, kind: 'question', info: { question: 'Where?' } };

  it.each<[string, Interrupt, Interrupt]>([
    ['arguments', approval, { ...approval, inputHash: 'h2' }],
    ['tools', approval, { ...approval, tool: 'refund' }],
    ['options of the run', approval, { ...approval, options: { limit: 3 } }],
    ['policies', { ...approval, policy }, { ...approval, policy: { ...policy, version: 'v2' } }],
    ['stages', { ...approval, policy }, { ...approval, policy: { ...policy, stage: { number: 2, of: 2, need: 1 } } }],
    ['questions', question, { ...question, info: { question: 'When?' } }],
    ['forms of an answer', question, { ...question, answerSchema: { type: 'string' } }],
  ])('differs for other %s', (_, one, other) => {
    expect(shownHash(one)).toBe(shownHash({ ...one }));
    expect(shownHash(one)).not.toBe(shownHash(other));
  });

  it('needs a login for the policies of the configuration, or for all', () => {
    const policies = new Links(memoryStore(), { login: ['refunds'] });
    const all = new Links(memoryStore(), { login: true });
    const asked = [approval, { ...approval, policy }, question];
    expect(asked.map((one) => policies.needsLogin(one))).toEqual([false, true, false]);
    expect(asked.map((one) => all.needsLogin(one))).toEqual([true, true, true]);
    expect(asked.map((one) => new Links(memoryStore()).needsLogin(one))).toEqual([false, false, false]);
  });
});

function rewritten(token: string, from: string, to: string): string {
  const [payload = '', signature = ''] = token.split('.');
  const text = Buffer.from(payload, 'base64url').toString().replace(from, to);
  return `${Buffer.from(text).toString('base64url')}.${signature}`;
}
