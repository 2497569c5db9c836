import type { AuditEntry } from '../../../contract/access';
import { Audit, lastEntries, type AuditQuery } from '../../../service/access/audit';
import { memoryStore } from '../../support/memory-store';

const start = Date.parse('2026-11-28T09:00:00Z');
const minute = 60_000;

beforeEach(() => jest.useFakeTimers({ now: start }));
afterEach(() => jest.useRealTimers());

const bed = () => {
  const store = memoryStore();
  const logged: string[] = [];
  const audit = new Audit(store, { error: (message, fields) => logged.push(`${message} ${JSON.stringify(fields)}`) });
  const read = async (query?: AuditQuery): Promise<readonly AuditEntry[]> => {
    const entries: AuditEntry[] = [];
    for await (const entry of audit.read(query)) entries.push(entry);
    return entries;
  };
  return { store, audit, logged, read };
};

describe('the audit log', () => {
  it('has a line for each act with its time, the oldest first, by tenant and since a time', async () => {
    const { audit, read } = bed();
    await audit.write({ what: 'login', tenant: 'acme', user: 'anna', proof: 'login:https://id.example' });
    jest.setSystemTime(start + 1_000);
    await audit.write({ what: 'refusal', code: 'identity-missing', route: 'GET /runs' });
    await audit.write({ what: 'decision', tenant: 'other', user: 'bob', proof: 'key:a', run: 'r', interrupt: 'i' });
    jest.setSystemTime(start + 2_000);
    await audit.write({ what: 'logout', tenant: 'acme', user: 'anna' });
    expect(await read()).toEqual([
      { at: '2026-11-28T09:00:00.000Z', what: 'login', tenant: 'acme', user: 'anna', proof: 'login:https://id.example' },
      { at: '2026-11-28T09:00:01.000Z', what: 'refusal', code: 'identity-missing', route: 'GET /runs' },
      { at: '2026-11-28T09:00:01.000Z', what: 'decision', tenant: 'other', user: 'bob', proof: 'key:a', run: 'r', interrupt: 'i' },
      { at: '2026-11-28T09:00:02.000Z', what: 'logout', tenant: 'acme', user: 'anna' },
    ]);
    expect((await read({ tenant: 'acme' })).map(({ what }) => what)).toEqual(['login', 'logout']);
    expect((await read({ since: start + 1_000 })).map(({ what }) => what)).toEqual(['refusal', 'decision', 'logout']);
  });

  it('gives the last lines, and says if there are earlier ones', async () => {
    const { audit } = bed();
    for (const user of ['a', 'b', 'c']) await audit.write({ what: 'login', user });
    const last = await lastEntries(audit.read(), 2);
    expect(last).toMatchObject({ entries: [{ user: 'b' }, { user: 'c' }], more: true });
    expect(await lastEntries(audit.read(), 3)).toMatchObject({ entries: [{ user: 'a' }, {}, {}], more: false });
  });

  it('leaves out a line that a full disk has cut, and cuts long texts of a request', async () => {
    const { audit, store, read } = bed();
    await store.append('{"at":"2026-11-28T09:0');
    await store.append('null');
    await audit.write({ what: 'refusal', user: 'anna', route: `GET /${'x'.repeat(5_000)}` });
    const [entry, ...more] = await read();
    expect(entry?.route).toHaveLength(301);
    expect(more).toEqual([]);
  });

  it('has 60 refusals a minute of callers without an identity, then their number; all lines of others', async () => {
    const { audit, read } = bed();
    const refuse = async (times: number): Promise<void> => {
      for (let at = 0; at < times; at++) await audit.write({ what: 'refusal', code: 'identity-missing' });
    };
    await refuse(100);
    await audit.write({ what: 'refusal', code: 'action-forbidden', user: 'anna' });
    expect(await read()).toHaveLength(61);
    await jest.advanceTimersByTimeAsync(minute);
    expect((await read()).slice(60)).toMatchObject([
      { what: 'refusal', user: 'anna' },
      { what: 'refusals-left-out', count: 40 },
    ]);
    await refuse(61);
    expect(await read()).toHaveLength(122);
    await jest.advanceTimersByTimeAsync(minute);
    expect((await read()).at(-1)).toMatchObject({ what: 'refusals-left-out', count: 1 });
  });

  it('fails no request if a line cannot be written; the log says so', async () => {
    const { audit, store, logged } = bed();
    store.append = () => Promise.reject(new Error('no space'));
    await audit.write({ what: 'decision', tenant: 'acme', user: 'anna' });
    expect(logged).toEqual(['The audit log lacks a line: no space {"what":"decision"}']);
  });
});
