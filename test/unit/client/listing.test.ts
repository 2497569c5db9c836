import type { WorkflowExecutionStatusName } from '@temporalio/client';
import { TypedSearchAttributes, defineSearchAttributeKey } from '@temporalio/common';
import { codeOf, messageOf } from '../../../contract/errors';
import type { Interrupt } from '../../../contract/interrupts';
import { interruptMemoPrefix, sinceMemoPrefix } from '../../../contract/names';
import { orderedRuns } from '../../../client/listing/ordered-runs';
import type { InterruptListOptions, ListOptions } from '../../../client/listing/list-options';
import type { ListedInterrupt, ListedRun } from '../../../contract/service';
import { RunLists } from '../../../client/listing/run-lists';
import type { ExecutionPage, Executions, ListedExecution } from '../../../client/reading/executions';
import { Random } from '../../parity/random';

const began = Date.parse('2026-11-23T00:00:00Z');
const agentKey = defineSearchAttributeKey('HoldfastAgent', 'KEYWORD');
const statusKey = defineSearchAttributeKey('HoldfastStatus', 'KEYWORD');

interface Record {
  readonly id: string;
  start: number;
  first?: number;
  close?: number;
  status?: string;
  readonly open: Map<string, { readonly since: number; readonly by?: readonly string[] }>;
}

class Visibility {
  readonly records: Record[] = [];
  asked = 0;
  counted = 0;
  between: () => void = () => undefined;

  add(id: string, start: number, more: Partial<Record> = {}): Record {
    const record = { id, start, open: new Map(), ...more };
    this.records.push(record);
    return record;
  }

  readonly page = async (query: string, size: number, token?: Uint8Array): Promise<ExecutionPage> => {
    this.between();
    this.asked += 1;
    const from = Number(Buffer.from(token ?? []).toString() || '0');
    const fitting = this.fitting(query).sort(
      (one, other) => (other.close ?? Infinity) - (one.close ?? Infinity) || other.start - one.start || (one.id < other.id ? -1 : 1),
    );
    // Like the server, returns a token for every full page.
    const page = fitting.slice(from, from + size);
    return {
      executions: page.map((record) => executionOf(record)),
      ...(page.length === size ? { token: Buffer.from(String(from + size)) } : {}),
    };
  };

  readonly count = async (query: string): Promise<number> => {
    this.counted += 1;
    return this.fitting(query).length;
  };

  private fitting(query: string): Record[] {
    const bound = (sign: string): number | undefined => {
      const text = new RegExp(`HoldfastStartedAt ${sign} '([^']+)'`).exec(query)?.[1];
      return text === undefined ? undefined : Date.parse(text);
    };
    const [from = -Infinity, to = Infinity] = [bound('>='), bound('<')];
    return this.records.filter((record) => {
      const at = record.first ?? record.start;
      if (query.includes("ExecutionStatus = 'Running'") && record.close !== undefined) return false;
      if (query.includes("HoldfastStatus = 'waiting'") && record.open.size === 0) return false;
      if (query.includes("HoldfastStatus = 'idle'") && record.status !== 'idle') return false;
      if (query.includes("HoldfastStatus != 'idle'") && record.status === 'idle') return false;
      return at >= from && at < to;
    });
  }
}

function executionOf({ id, start, first, close, open, status }: Record): ListedExecution {
  const name: WorkflowExecutionStatusName = close === undefined ? 'RUNNING' : 'COMPLETED';
  const memo = [...open].flatMap(([interruptId, { since, by }]) => {
    const shown = { id: interruptId, address: ['a'], agent: 'a', kind: 'question', info: 1, ...(by === undefined ? {} : { by }) };
    return [[interruptMemoPrefix + interruptId, shown as Interrupt] as const, [sinceMemoPrefix + interruptId, since] as const];
  });
  return {
    workflowId: `t/${id}`,
    runId: id,
    status: { name, code: 1 },
    startTime: new Date(start),
    typedSearchAttributes: new TypedSearchAttributes([
      { key: agentKey, value: 'a' },
      ...(status === undefined ? [] : [{ key: statusKey, value: status }]),
    ]),
    memo: Object.fromEntries(memo),
    ...(first === undefined ? {} : { startedAt: new Date(first) }),
    ...(close === undefined ? {} : { closeTime: new Date(close) }),
  };
}

const listsOf = (server: Visibility, now = began): RunLists => new RunLists(server as unknown as Executions, 't', () => now);

async function allRuns(lists: RunLists, options: ListOptions): Promise<{ readonly runs: readonly ListedRun[]; readonly pages: number }> {
  const runs: ListedRun[] = [];
  let after: string | undefined;
  for (let pages = 1; ; pages++) {
    const page = await lists.runs({ ...options, ...(after === undefined ? {} : { after }) });
    runs.push(...page.runs);
    expect(page.more).toBe(page.next !== undefined);
    if (page.next === undefined) return { runs, pages };
    after = page.next;
  }
}

async function allInterrupts(lists: RunLists, options: InterruptListOptions): Promise<readonly ListedInterrupt[]> {
  const rows: ListedInterrupt[] = [];
  let after: string | undefined;
  do {
    const page = await lists.interrupts({ ...options, ...(after === undefined ? {} : { after }) });
    rows.push(...page.interrupts);
    after = page.next;
  } while (after !== undefined);
  return rows;
}

describe('a list of runs', () => {
  it('says which conversations are idle, and filters by it', async () => {
    const server = new Visibility();
    server.add('talks', began, { status: 'idle' });
    server.add('works', began, { status: 'running' });
    server.add('ended', began, { status: 'idle', close: began + 1 });
    const rows = async (options: ListOptions) =>
      (await listsOf(server).runs(options)).runs.map(({ id, status }) => `${id} ${status}`).sort();
    expect(await rows({})).toEqual(['ended completed', 'talks idle', 'works running']);
    expect(await rows({ status: 'idle' })).toEqual(['talks idle']);
    expect(await rows({ status: 'running' })).toEqual(['works running']);
    expect(await rows({ status: 'open' })).toEqual(['talks idle', 'works running']);
  });

  it.each([
    [60, 1],
    [300, 7],
    [1500, 50],
    [1500, 400],
    [1500, 1000],
  ])('has each of %d runs once, newest first, on pages of %d', async (count, limit) => {
    const server = new Visibility();
    const random = new Random('4711');
    for (let n = 0; n < count; n++) {
      const start = began + random.below(3_600_000);
      const ended = random.below(3) > 0 ? { close: start + random.below(7_200_000) } : {};
      server.add(`r${n}`, start, random.below(5) === 0 ? { ...ended, first: start - random.below(86_400_000) } : ended);
    }
    const expected = server.records
      .map(({ id, first, start }) => ({ id, at: first ?? start }))
      .sort((one, other) => other.at - one.at || (`t/${one.id}` < `t/${other.id}` ? -1 : 1));
    const { runs, pages } = await allRuns(listsOf(server), { limit });
    expect(runs.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
    expect(runs[0]?.startedAt).toBe(new Date(expected[0]?.at ?? 0).toISOString());
    expect(pages).toBe(Math.ceil(count / limit));
  });

  it('is stable while runs end, continue as new and begin between its pages', async () => {
    const server = new Visibility();
    const random = new Random('17');
    for (let n = 0; n < 600; n++) server.add(`r${n}`, began + random.below(1_000_000));
    const before = server.records.map(({ id }) => id);
    let time = began + 2_000_000;
    server.between = () => {
      for (let n = 0; n < 40; n++) {
        const record = server.records[random.below(server.records.length)];
        if (record === undefined || record.close !== undefined) continue;
        time += 1;
        if (random.below(2) === 0) record.close = time;
        else {
          record.first ??= record.start;
          record.start = time;
        }
      }
      server.add(`new${time}`, time);
    };
    const { runs } = await allRuns(listsOf(server), { limit: 30 });
    const seen = runs.map(({ id }) => id).filter((id) => !id.startsWith('new'));
    expect(new Set(seen).size).toBe(seen.length);
    expect([...seen].sort()).toEqual([...before].sort());
  });

  it('has runs of which a thousand began in one millisecond', async () => {
    const server = new Visibility();
    for (let n = 0; n < 2500; n++) server.add(`r${String(n).padStart(4, '0')}`, began);
    const { runs } = await allRuns(listsOf(server), { limit: 300 });
    expect(runs.map(({ id }) => id)).toEqual(server.records.map(({ id }) => id));
  });

  it('asks the server once for a page of open runs, and of runs that ended one after another', async () => {
    const server = new Visibility();
    for (let n = 0; n < 3000; n++) server.add(`r${n}`, began + n * 1000, { close: began + n * 1000 + 500 });
    const first = await listsOf(server).runs({});
    expect(server.asked).toBe(1);
    await listsOf(server).runs({ after: first.next ?? '' });
    expect(server.asked).toBe(2);
    for (let n = 0; n < 40; n++) server.add(`open${n}`, began + n);
    await listsOf(server).runs({ status: 'open', limit: 20 });
    expect(server.asked).toBe(3);
  });

  it('says how many there are in all, and asks nothing more when it has them', async () => {
    const server = new Visibility();
    for (let n = 0; n < 30; n++) server.add(`r${n}`, began + n);
    expect(await listsOf(server).runs({ total: true })).toMatchObject({ more: false, total: 30 });
    expect(server.counted).toBe(0);
    const page = await listsOf(server).runs({ total: true, limit: 10 });
    expect(page).toMatchObject({ more: true, total: 30 });
    expect(await listsOf(server).runs({ total: true, limit: 10, after: page.next ?? '' })).toMatchObject({ total: 30 });
    expect(await listsOf(server).runs({ limit: 10 })).not.toHaveProperty('total');
  });

  it('has only runs that began in a time, which stays as it was on the first page', async () => {
    const server = new Visibility();
    for (let n = 0; n < 100; n++) server.add(`r${n}`, began + n * 60_000);
    const later = began + 100 * 60_000;
    const first = await listsOf(server, later).runs({ since: '50m', until: new Date(began + 90 * 60_000), limit: 30 });
    const second = await listsOf(server, later + 20 * 60_000).runs({
      ...{ since: '50m', until: new Date(began + 90 * 60_000), limit: 30, after: first.next ?? '' },
    });
    expect([...first.runs, ...second.runs].map(({ id }) => id)).toEqual(Array.from({ length: 40 }, (_, n) => `r${89 - n}`));
    expect(second).toMatchObject({ more: false });
  });

  it('bounds what a filter of the server leaves open, whatever its order', async () => {
    const asked: string[] = [];
    const runs = orderedRuns({
      ask: async (query) => {
        asked.push(query);
        return { executions: [] };
      },
      ...{ clauses: ["WorkflowType = 'agentRun'"], isOpenOnly: false, since: began, until: began + 1000, want: 10 },
    });
    for await (const _ of runs) throw new Error('There is none.');
    expect(asked).toEqual([
      "WorkflowType = 'agentRun' AND ((HoldfastStartedAt IS NULL AND StartTime >= '2026-11-23T00:00:00.000Z' AND StartTime < '2026-11-23T00:00:01.000Z')" +
        " OR (HoldfastStartedAt >= '2026-11-23T00:00:00.000Z' AND HoldfastStartedAt < '2026-11-23T00:00:01.000Z'))",
    ]);
  });
});

describe('a list of interrupts', () => {
  const waiting = (): Visibility => {
    const server = new Visibility();
    for (let run = 0; run < 60; run++) {
      const { open } = server.add(`r${run}`, began + run);
      for (let n = 0; n < 20; n++) open.set(`q${n}`, { since: began + 1000 + ((n * 7) % 20), ...(n % 4 === 0 ? { by: ['ada'] } : {}) });
    }
    return server;
  };

  it('has 1,200 of them page by page while 200 are answered: none missed, none twice', async () => {
    const server = waiting();
    const all = server.records.flatMap(({ id, open }) => [...open.keys()].map((interrupt) => `${id} ${interrupt}`));
    const random = new Random('99');
    const answered = new Set<string>();
    server.between = () => {
      for (let n = 0; n < 10 && answered.size < 200; n++) {
        const record = server.records[random.below(60)];
        const [key] = [...(record?.open.keys() ?? [])].slice(random.below(20));
        if (record === undefined || key === undefined) continue;
        record.open.delete(key);
        answered.add(`${record.id} ${key}`);
        if (record.open.size === 0) record.close = began + 5000;
        else if (random.below(4) === 0) record.open.set(`later${answered.size}`, { since: began + 9000 });
      }
    };
    const rows = await allInterrupts(listsOf(server), { limit: 37 });
    const seen = rows.map(({ runId, interrupt }) => `${runId} ${interrupt.id}`);
    expect(new Set(seen).size).toBe(seen.length);
    expect(answered.size).toBe(200);
    for (const one of all) if (!answered.has(one)) expect(seen).toContain(one);
  });

  it('has those that a name may answer, and those that have waited for long', async () => {
    const server = waiting();
    expect(await allInterrupts(listsOf(server), { mayAnswer: 'ada', limit: 100 })).toHaveLength(1200);
    const bob = await allInterrupts(listsOf(server), { mayAnswer: 'bob', limit: 100 });
    expect(bob).toHaveLength(900);
    expect(bob.every(({ interrupt }) => interrupt.by === undefined)).toBe(true);
    const long = await allInterrupts(listsOf(server, began + 3_600_000 + 1000), { waitingSince: '1h', limit: 100 });
    expect(long).toHaveLength(60);
    expect(long[0]).toMatchObject({ runId: 'r59', waitingSince: new Date(began + 1000).toISOString(), agent: 'a' });
    const runs = await listsOf(server).runs({ mayAnswer: 'bob', limit: 2 });
    expect(runs.runs.map(({ id }) => id)).toEqual(['r59', 'r58']);
    expect(runs.runs[0]?.waitingSince).toBe(new Date(began + 1000).toISOString());
  });
});

describe('a cursor', () => {
  const refusal = async (options: ListOptions, kind: 'runs' | 'interrupts' = 'runs'): Promise<string> => {
    try {
      await listsOf(new Visibility())[kind](options);
    } catch (error) {
      return `${codeOf(error) ?? ''}: ${messageOf(error)}`;
    }
    return 'taken';
  };

  it('is refused where it is none, and with other filters than those that it was made with', async () => {
    const server = new Visibility();
    for (let n = 0; n < 20; n++) server.add(`r${n}`, began + n).open.set('q', { since: began });
    const { next = '' } = await listsOf(server).runs({ limit: 5, agent: 'a' });
    expect(await refusal({ agent: 'a', after: next })).toBe('taken');
    expect(await refusal({ agent: 'a', after: next, limit: 7 })).toBe('taken');
    const others =
      'after is of a list with other filters. Give the filters of the page that it comes from, or leave after out to begin anew.';
    expect(await refusal({ agent: 'b', after: next })).toBe(`request-invalid: list: ${others}`);
    expect(await refusal({ agent: 'a', after: next }, 'interrupts')).toBe(`request-invalid: interrupts: ${others}`);
    const parts = JSON.parse(Buffer.from(next, 'base64url').toString()) as unknown[];
    const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const wrongTimes = [1e300, 'x', null, 8.64e15].map((at) => encoded(parts.map((part, position) => (position === 3 ? at : part))));
    const reason = /^request-invalid: list: after must be the "next" of the page before\. It is /;
    for (const broken of ['x', `${next}x`, next.slice(0, -3), encoded([1]), '!', encoded({}), ...wrongTimes])
      expect(await refusal({ agent: 'a', after: broken })).toMatch(reason);
  });

  it('stands in a URL and in a command as it is', async () => {
    const server = new Visibility();
    for (let n = 0; n < 3; n++) server.add(`ü~${n}`, began + n);
    const { next } = await listsOf(server).runs({ limit: 1 });
    expect(next).toMatch(/^[A-Za-z0-9_-]+$/);
    expect((await allRuns(listsOf(server), { limit: 1 })).runs).toHaveLength(3);
  });
});
