import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import type { Outcome } from '../../client/reading/outcome';
import type { Run } from '../../client/runs/run';
import type { RunEvent } from '../../contract/events';
import type { Json } from '../../contract/messages/messages';
import { names } from '../../contract/names';
import type { Agent } from '../../kernel/define/agent-ref';
import { isAgent } from '../../kernel/define/agent-ref';
import type { TestRun } from '../../testing/index';
import { testRun } from '../../testing/index';
import { reductionOnWorker } from '../../worker/index';
import type { Temporal } from '../support/temporal';
import { openTemporal } from '../support/temporal';
import { testServer } from '../support/test-bed';
import { killAll, spawnProgram } from './child';
import * as agents from './middleware-agents';
import type { MiddlewareWorkerSettings } from './middleware-process';
import { answerOf, deskRows, middlewareRows } from './middleware-rows';
import { firstFiles, rowTools, stored, toolsWork } from './middleware-tools';
import { programSettings } from './program-settings';

const rows = Object.keys(middlewareRows);
const agentOf = (name: string): Agent => Object.values(agents).find((agent) => isAgent(agent) && agent.name === name) as Agent;
const inputOf = (name: string): Json => middlewareRows[name]?.input ?? 'Hi';

async function eventsOf(run: Run | TestRun): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of 'advance' in run ? run.events() : run.events({ deltas: false })) events.push(event);
  return events;
}

/** Only a run with a killed worker reconciles calls. */
const isOfAll = ({ type }: RunEvent): boolean => type !== 'tool-reconcile';

function inOrderOfCalls(events: readonly RunEvent[]): readonly RunEvent[] {
  const ordered: RunEvent[] = [];
  for (const event of events) {
    let place = ordered.length;
    if (event.type === 'tool-end') {
      const isLater = (before: RunEvent | undefined): boolean => before?.type === 'tool-end' && before.callId > event.callId;
      while (isLater(ordered[place - 1])) place -= 1;
    }
    ordered.splice(place, 0, event);
  }
  return ordered.map((event, offset) => ({ ...event, offset }));
}

async function shownBy(run: Run | TestRun, root = run.id): Promise<string> {
  const all = await eventsOf(run);
  expect(all.map(({ offset }) => offset)).toEqual(all.map((_, offset) => offset));
  const events = inOrderOfCalls(all.filter(isOfAll));
  const { messages, usage, output, status, error } = await run.view();
  const known = new Map<string, string>();
  return JSON.stringify({ status, output, error, usage, messages, events }, (key, value: unknown) => (key === 'time' ? 0 : value), 1)
    .split(root)
    .join('RUN')
    .replace(randomIds, (id) => known.get(id) ?? (known.set(id, `id-${known.size}`), known.get(id) ?? ''));
}

const randomIds = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

async function shownInAnyOrder(run: Run | TestRun): Promise<readonly string[]> {
  const { messages, usage, output, status } = await run.view();
  const events = (await eventsOf(run)).filter(isOfAll).map(({ time: _, offset: __, ...event }) => event);
  return [{ usage, output, status }, ...messages, ...events]
    .map((one) => JSON.stringify(one).split(run.id).join('RUN').replace(randomIds, 'id'))
    .sort();
}

async function led(run: Run | TestRun, answer: Json = null): Promise<void> {
  for (;;) {
    const outcome: Outcome<unknown> = await ('advance' in run ? run.outcome() : run.outcome());
    if (outcome.status === 'running' && 'advance' in run) await run.advance('1m');
    else if (outcome.status === 'waiting') await run.resume(outcome.interrupts[0]?.id ?? '', answer, { by: 'ada' });
    else if (outcome.status === 'completed') return;
    else throw new Error(`The run "${run.id}" is ${JSON.stringify(outcome)}.`);
  }
}

function folderWithFiles(folder: string): string {
  for (const [path, text] of Object.entries(firstFiles)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

const directory = mkdtempSync(join(tmpdir(), 'holdfast-kill-'));

async function inMemory(name: string, answer?: Json): Promise<TestRun> {
  const counts = new Map<string, number>();
  const count = (what: string): number => (counts.set(what, (counts.get(what) ?? 0) + 1), counts.get(what) ?? 0);
  toolsWork({ count, folder: folderWithFiles(join(directory, 'in-memory', name)) });
  const run = await testRun(agentOf(name), {
    input: inputOf(name) as never,
    id: 'in-memory',
    tools: rowTools,
    middleware: [reductionOnWorker({ backend: stored })],
    model: { model: (model) => ({ generate: (request) => answerOf(model, request, name, count) }) },
  });
  await led(run, answer);
  return run;
}

const settings: MiddlewareWorkerSettings = {
  ...programSettings(`kill-middlewares-${process.pid}`),
  counts: join(directory, 'counts'),
  folder: folderWithFiles(join(directory, 'files')),
};

let client: HoldfastClient;
let temporal: Temporal;
let desks: Run;
const ended = new Map<string, Promise<Run>>();

beforeAll(async () => {
  // The second process loads modules while the first works.
  const first = spawnProgram('middleware-process', { ...settings, hold: true });
  const second = spawnProgram('middleware-process', settings);
  client = await connect({ server: testServer(), taskQueue: settings.taskQueue });
  temporal = await openTemporal();
  first.release();
  await first.line('ready');
  const started = await Promise.all(
    rows.map(async (name) => [name, await client.start(name, inputOf(name), { id: `${settings.taskQueue}-${name}` })] as const),
  );
  desks = await client.start('desks', 'Hi', { id: `${settings.taskQueue}-desks` });
  const held = async (name: string, run: Run): Promise<void> => {
    const { asks, answer = null } = middlewareRows[name] ?? {};
    if (asks !== undefined) {
      const outcome = await run.outcome();
      if (outcome.status !== 'waiting') throw new Error(`The run "${run.id}" does not wait: ${JSON.stringify(outcome)}`);
      if (asks === 'before') await run.resume(outcome.interrupts[0]?.id ?? '', answer, { by: 'ada' });
    }
    if (asks !== 'while') await first.line(`in ${name}`);
  };
  await Promise.all(started.map(([name, run]) => held(name, run)));
  await Promise.all([desks.outcome(), first.line('in deskThinks'), first.line('in file')]);
  await first.murder();
  const before = await Promise.all(started.map(([, run]) => temporal.executionOf(run.id)));
  await Promise.all(started.map(([, run]) => temporal.handle(run.id).signal(names.continueAsNewSignal)));
  second.release();
  await second.line('ready');
  const toTheEnd = async (name: string, run: Run, execution: string): Promise<Run> => {
    const { asks, answer } = middlewareRows[name] ?? {};
    if (asks === 'while') await temporal.untilAnotherExecution(run.id, execution);
    await led(run, answer);
    if ((await temporal.executionOf(run.id)) === execution) throw new Error(`The run "${run.id}" did not continue as new.`);
    return run;
  };
  for (const [position, [name, run]] of started.entries()) ended.set(name, toTheEnd(name, run, before[position] ?? ''));
  ended.set(
    'desks',
    led(desks, 'yes').then(() => desks),
  );
  await Promise.allSettled(ended.values());
}, 300_000);

afterAll(async () => {
  await client.close();
  await temporal.close();
  killAll();
});

it.each(rows)('%s does the same when its worker is killed and its run continues as new as in memory', async (name) => {
  const run = (await ended.get(name)) as Run;
  const expected = await shownBy(await inMemory(name, middlewareRows[name]?.answer));
  expect(await shownBy(run)).toBe(expected);
  expect(expected).toMatch(middlewareRows[name]?.shows ?? /^$/);
});

it('isolated agents in calls of models and tools, and one that waits, come to the same when their worker is killed, with each effect once', async () => {
  await ended.get('desks');
  const expected = await inMemory('desks', 'yes');
  expect(await shownInAnyOrder(desks)).toEqual(await shownInAnyOrder(expected));
  for (const desk of Object.keys(deskRows)) {
    const own = expected.children.get(`${expected.id}~${desk}`) as TestRun;
    expect(await shownBy(client.run(`${desks.id}~${desk}`), desks.id)).toBe(await shownBy(own, expected.id));
  }
  const filed = readFileSync(settings.counts, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('filed:'));
  expect(filed).toHaveLength(1);
});
