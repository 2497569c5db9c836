import type { DeploymentReader } from '../../../host/deployment';
import { listBuilds } from '../../../client/builds';
import { RunCounter } from '../../../client/listing/run-counts';
import type { ListedExecution } from '../../../client/reading/executions';
import { UsageReports } from '../../../client/usage-report';
import type { ModelCallUsage } from '../../../client/reading/execution-usage';
import { TypedSearchAttributes } from '@temporalio/common';
import { HoldfastError } from '../../../contract/errors';
import { withFactsOfWorker } from '../../../service/project/project-facts';

const day = Date.parse('2026-11-24T00:00:00Z');

function execution(id: string, status: 'RUNNING' | 'COMPLETED' = 'COMPLETED'): ListedExecution {
  const typedSearchAttributes = new TypedSearchAttributes([]);
  return { workflowId: `t/${id}`, runId: id, status: { name: status, code: 1 }, startTime: new Date(day), typedSearchAttributes, memo: {} };
}

const call = (agent: string, model: string, tokens: number, time = day + 1000): ModelCallUsage => ({
  time,
  agent,
  model,
  usage: { inputTokens: tokens, outputTokens: 1 },
});

describe('a report of usage', () => {
  const now = day + 3_600_000;
  const reportsOf = (histories: Readonly<Record<string, readonly ModelCallUsage[] | Error>>, open: readonly string[] = []) => {
    const clock = { now };
    const read: string[] = [];
    const reports = new UsageReports(
      {
        executions: {
          page: async () => ({
            executions: Object.keys(histories).map((id) => execution(id, open.includes(id) ? 'RUNNING' : 'COMPLETED')),
          }),
        },
        calls: async (_, runId) => {
          read.push(runId);
          clock.now += 1000;
          const calls = histories[runId];
          if (calls instanceof Error) throw calls;
          return calls ?? [];
        },
      },
      't',
      () => clock.now,
    );
    return { reports, read, clock };
  };

  it('sums up the calls of all executions, the largest first, and days in their order', async () => {
    const { reports } = reportsOf({
      a: [call('support', 'x', 10), call('support', 'y', 5)],
      b: [call('orders', 'x', 100, day + 90_000_000)],
    });
    const since = new Date(day);
    const until = new Date(day + 2 * 86_400_000);
    const byAgent = await reports.report({ since, until });
    expect(byAgent.rows.map(({ key, calls, usage }) => [key, calls, usage.inputTokens])).toEqual([
      ['orders', 1, 100],
      ['support', 2, 15],
    ]);
    expect(byAgent.total).toEqual({
      calls: 3,
      usage: { inputTokens: 115, outputTokens: 3 },
      usageByModel: { x: { inputTokens: 110, outputTokens: 2 }, y: { inputTokens: 5, outputTokens: 1 } },
    });
    const byDay = await reports.report({ by: 'day', since, until });
    expect(byDay.rows.map(({ key }) => key)).toEqual(['2026-11-24', '2026-11-25']);
  });

  it('counts only calls of its time, and says which of them gave no tokens', async () => {
    const none = { ...call('a', 'x', 0), usage: { inputTokens: 0, outputTokens: 0 } };
    const { reports } = reportsOf({ a: [call('a', 'x', 1, day - 1), call('a', 'x', 2), none] });
    const report = await reports.report({ since: new Date(day), until: new Date(day + 5000) });
    expect(report).toMatchObject({ total: { calls: 2, usage: { inputTokens: 2 } }, uncounted: 1, counted: 1, left: 0 });
  });

  it('reads for some seconds only, says what is left, and has it the next time; what has ended is read once', async () => {
    const histories = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`r${at}`, [call('a', 'x', 1)]]));
    const { reports, read } = reportsOf(histories);
    const first = await reports.report({});
    expect(first.left).toBeGreaterThan(0);
    expect(first.counted + first.left).toBe(30);
    let last = first;
    for (let rounds = 0; last.left > 0 && rounds < 30; rounds++) last = await reports.report({});
    expect(last).toMatchObject({ counted: 30, left: 0, total: { calls: 30 } });
    expect([...read].sort()).toEqual(Object.keys(histories).sort());
  });

  it('reads an open execution again after a while, and one that has ended since at once', async () => {
    const open = ['a'];
    const { reports, read, clock } = reportsOf({ a: [call('a', 'x', 1)] }, open);
    await reports.report({});
    await reports.report({});
    expect(read).toEqual(['a']);
    clock.now += 20_000;
    await reports.report({});
    expect(read).toEqual(['a', 'a']);
    open.pop();
    await reports.report({});
    expect(read).toEqual(['a', 'a', 'a']);
  });

  it('says what it could not read, and asks for it again', async () => {
    const { reports, read } = reportsOf({ a: new Error('gone'), b: [call('a', 'x', 1)] });
    expect(await reports.report({})).toMatchObject({ unreadable: 1, counted: 1 });
    await reports.report({});
    expect(read.filter((id) => id === 'a')).toHaveLength(2);
  });
});

it('counts of runs are one answer for all who ask within five seconds, and failures of runs that went on do not count', async () => {
  let [now, asked] = [0, 0];
  const executions = {
    countByStatus: async () => {
      asked++;
      return new Map([
        ['Running', 9],
        ['Failed', 2],
        ['TimedOut', 1],
        ['Canceled', 4],
      ]);
    },
    count: async (query: string) => (query.includes("HoldfastStatus = 'waiting'") ? 3 : 1),
    page: async (query: string) => ({
      executions: [
        { ...execution('twice'), status: { name: 'FAILED' as const, code: 3 as const }, startTime: new Date(1) },
        ...(query.includes('WorkflowId IN') ? [{ ...execution('twice'), startTime: new Date(2) }] : []),
      ],
    }),
  };
  const counter = new RunCounter(executions, 't', () => now);
  expect(await counter.counts(day)).toEqual({
    running: 5,
    waiting: 3,
    idle: 1,
    completed: 0,
    failed: 2,
    cancelled: 4,
    since: '2026-11-24T00:00:00.000Z',
  });
  await counter.counts(day);
  expect(asked).toBe(1);
  now = 5001;
  await counter.counts(day);
  expect(asked).toBe(2);
});

describe('builds', () => {
  const reader = (more: Partial<Record<'open' | 'polls', Readonly<Record<string, number>>>> = {}) => {
    const asked: string[] = [];
    const deployment = {
      name: 'orders',
      described: async () => ({
        standing: { current: 'b3', replaced: undefined, builds: ['b3', 'b2', 'b1', 'b0'], drained: new Set(['b0']), token: undefined },
        known: ['b3', 'b2', 'b1', 'b0'].map((id, at) => ({ id, since: day - at })),
      }),
      allPolls: async () => new Map(Object.entries(more.polls ?? { b3: day, b2: day })),
      openRuns: async (id: string) => {
        asked.push(id);
        return more.open?.[id] ?? 0;
      },
    } satisfies Pick<DeploymentReader, 'name' | 'described' | 'allPolls' | 'openRuns'>;
    return { deployment, asked };
  };

  it('say which one is the newest, which drain, which have drained and which nobody serves', async () => {
    const { deployment, asked } = reader({ open: { b3: 4, b2: 2, b1: 1 } });
    const { builds } = await listBuilds(deployment, () => day + 1000);
    expect(builds.map(({ id, state, openRuns }) => [id, state, openRuns])).toEqual([
      ['b3', 'newest', 4],
      ['b2', 'draining', 2],
      ['b1', 'unserved', 1],
      ['b0', 'drained', 0],
    ]);
    expect(asked).not.toContain('b0');
  });

  it('are not served any more when no worker has asked of late, and there are none where no worker has been', async () => {
    const { deployment } = reader({ open: { b2: 1 } });
    const { builds } = await listBuilds(deployment, () => day + 600_000);
    expect(builds.map(({ state }) => state)).toEqual(['unserved', 'unserved', 'drained', 'drained']);
    const none = { ...deployment, described: () => Promise.reject(Object.assign(new Error('not found'), { code: 5 })) };
    expect(await listBuilds(none)).toEqual({ taskQueue: 'orders', builds: [] });
  });
});

describe('problems of a process', () => {
  it('have a model that an agent names and that cannot be used', () => {
    const lists = { tools: [], agents: [], middleware: [], policies: [] };
    const agent = { ...lists, name: 'a', description: '', kind: 'chat', isExported: true, model: 'dear' } as const;
    const facts = { agents: [agent], tools: [], limits: [], models: ['dear', 'spare', 'good'].map((name) => ({ name, candidates: [] })) };
    const modelIdOf = (name: string): string => {
      if (name === 'good') return 'demo/rules';
      throw new HoldfastError('model-key-missing', `No model of "${name}" can be used.`);
    };
    const none = (): undefined => undefined;
    const { facts: told, problems } = withFactsOfWorker(facts, { modelIdOf, useOfModels: none, useOfTool: none });
    expect(told.models.map(({ name, id }) => [name, id])).toEqual([
      ['dear', undefined],
      ['spare', undefined],
      ['good', 'demo/rules'],
    ]);
    expect(problems).toEqual([{ code: 'model-key-missing', message: expect.stringContaining('"dear"'), fix: expect.any(String) }]);
  });

  it('say what the calls of the worker take of a limit, and nothing where there is no worker', () => {
    const tool = { name: 'ship', description: '', kind: 'worker' } as const;
    const facts = {
      agents: [],
      models: [],
      limits: [{ models: 'openai/*', concurrent: 5 }],
      tools: [
        { ...tool, concurrency: 2 },
        { ...tool, name: 'free' },
      ],
    };
    const use = { atWork: 1, waiting: 2, lastMinute: 3, tokensLastMinute: 4 };
    const asked: string[] = [];
    const used = (name: string): typeof use => (asked.push(name), use);
    const { facts: told } = withFactsOfWorker(facts, { modelIdOf: () => undefined, useOfModels: used, useOfTool: used });
    expect([told.limits[0]?.use, told.tools.map((one) => one.use), asked]).toEqual([use, [use, undefined], ['openai/*', 'ship']]);
    const none = (): undefined => undefined;
    expect(withFactsOfWorker(facts, { modelIdOf: none, useOfModels: none, useOfTool: none }).facts).toEqual(facts);
  });
});
