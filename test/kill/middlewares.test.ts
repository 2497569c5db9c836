import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import type { Outcome } from '../../client/outcome';
import type { Run } from '../../client/run';
import { names } from '../../contract/plain/names';
import type { Agent } from '../../kernel/agent';
import { isAgent } from '../../kernel/agent';
import type { TestRun } from '../../testing/index';
import { testRun } from '../../testing/index';
import { bundleAgents } from '../../worker/bundle';
import type { Temporal } from '../support/temporal';
import { openTemporal } from '../support/temporal';
import { testServer } from '../support/test-bed';
import type { Child } from './child';
import { killAll, spawnProgram } from './child';
import * as agents from './middleware-agents';
import type { MiddlewareWorkerSettings } from './middleware-process';
import { answerOf, middlewareRows } from './middleware-rows';
import { countWith, rowTools } from './middleware-tools';

const rows = Object.keys(middlewareRows);
const agentOf = (name: string): Agent => Object.values(agents).find((agent) => isAgent(agent) && agent.name === name) as Agent;
const inputOf = (name: string): string => middlewareRows[name]?.input ?? 'Hi';

/** What readers see, without times, and with random ids numbered as they come. */
async function shownBy(run: Run | TestRun): Promise<string> {
  const events: unknown[] = [];
  for await (const event of run.events()) events.push(event);
  const { messages, usage, output, status, error } = await run.view();
  const known = new Map<string, string>();
  return JSON.stringify({ status, output, error, usage, messages, events }, (key, value: unknown) => (key === 'time' ? 0 : value), 1)
    .split(run.id)
    .join('RUN')
    .replace(
      /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g,
      (id) => known.get(id) ?? (known.set(id, `id-${known.size}`), known.get(id) ?? ''),
    );
}

/** Answers what the run asks, until it has ended. */
async function led(run: Run | TestRun, name: string): Promise<void> {
  for (;;) {
    const outcome: Outcome<unknown> = await ('advance' in run ? run.outcome() : run.outcome({ timeout: '60s' }));
    if (outcome.status === 'running' && 'advance' in run) await run.advance('1m');
    else if (outcome.status === 'waiting') await run.resume(outcome.interrupts[0]?.id ?? '', middlewareRows[name]?.answer ?? null);
    else if (outcome.status === 'completed') return;
    else throw new Error(`The run of "${name}" is ${JSON.stringify(outcome)}.`);
  }
}

async function inMemory(name: string): Promise<string> {
  const counts = new Map<string, number>();
  const count = (what: string): number => (counts.set(what, (counts.get(what) ?? 0) + 1), counts.get(what) ?? 0);
  countWith(count);
  const run = await testRun(agentOf(name), {
    input: inputOf(name),
    id: 'in-memory',
    tools: rowTools,
    model: { model: (model) => ({ generate: (request) => answerOf(model, request, name, count) }) },
  });
  await led(run, name);
  return shownBy(run);
}

let client: HoldfastClient;
let temporal: Temporal;
let runs: ReadonlyMap<string, Run>;

beforeAll(async () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-kill-'));
  const server = testServer();
  const settings: MiddlewareWorkerSettings = {
    address: server.address,
    taskQueue: `kill-middlewares-${process.pid}`,
    bundle: join(directory, 'bundle.json'),
    bundles: join(directory, 'bundles'),
    counts: join(directory, 'counts'),
  };
  writeFileSync(settings.bundle, JSON.stringify(await bundleAgents(join(__dirname, 'middleware-agents.ts'))));
  client = await connect({ server, taskQueue: settings.taskQueue });
  temporal = await openTemporal();
  const first: Child = spawnProgram('middleware-process', { ...settings, hold: true });
  await first.line('ready');
  const started = await Promise.all(
    rows.map(async (name) => [name, await client.start(name, inputOf(name), { id: `${settings.taskQueue}-${name}` })] as const),
  );
  runs = new Map(started);
  await Promise.all(rows.map((name) => first.line(`in ${name}`)));
  await first.murder();
  const before = await Promise.all(started.map(([, run]) => temporal.executionOf(run.id)));
  // Asked for now, done at the end of the turn in which the worker was killed.
  await Promise.all(started.map(([, run]) => temporal.handle(run.id).signal(names.borderSignal)));
  const second = spawnProgram('middleware-process', settings);
  await second.line('ready');
  await Promise.all(started.map(([, run], position) => temporal.untilAnotherExecution(run.id, before[position] ?? '')));
}, 300_000);

afterAll(async () => {
  await client.close();
  await temporal.close();
  killAll();
});

it.each(rows)('%s does the same when its worker is killed and its run continues as new as in memory', async (name) => {
  const run = runs.get(name) as Run;
  await led(run, name);
  const expected = await inMemory(name);
  expect(await shownBy(run)).toBe(expected);
  expect(expected).toMatch(middlewareRows[name]?.shows ?? /^$/);
});
