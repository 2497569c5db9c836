import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import { defined } from '../../contract/defined';
import type { Run } from '../../client/runs/run';
import type { RunEvent } from '../../contract/events';
import type { TemporalSettings } from '../../host/connection';
import { madeBundle } from '../support/made-bundle';
import type { Child } from './child';
import { spawnProgram } from './child';

export const root = extname(__filename) === '.ts' ? join(__dirname, '..', '..') : join(__dirname, '..', '..', '..');
const patienceMs = 120_000;

export interface Point {
  /** Such as `desks.law`; empty for the started run. */
  readonly part: string;
  readonly offset: number;
}

/** Result of a run whose worker was killed at `points`. */
export interface Kills {
  readonly points: readonly Point[];
  readonly at: readonly string[];
  readonly seconds: number;
  /** Empty: equal to the undisturbed run. */
  readonly differences: readonly string[];
}

interface Log {
  readonly part: string;
  readonly run: Run;
  readonly events: readonly RunEvent[];
}

interface Played {
  readonly record: Account;
  readonly logs: readonly Log[];
  readonly at: readonly string[];
}

interface Account {
  readonly parts: Readonly<Record<string, PartAccount>>;
  readonly effects: readonly string[];
}

interface PartAccount {
  readonly end: string;
  readonly messages: readonly string[];
  readonly paths: Readonly<Record<string, readonly string[]>>;
}

export interface Scenario {
  /** A compiled program of this folder: answers `serve QUEUE PLACE` with `ready QUEUE`. */
  readonly program: string;
  readonly agents: string;
  readonly agent: string;
  readonly input: string;
  readonly by?: string;
  /** Begins the run with two clients instead of a plain start. `ended` settles at the run's end. */
  begin?(clients: readonly [HoldfastClient, HoldfastClient], id: string): Promise<{ readonly ended: Promise<void> }>;
  placeOf(directory: string, queue: string): string;
  effectsIn(place: string): readonly string[];
  /** Answers questions until the run's end. */
  attend?(run: Run): Promise<void>;
  /** Parallel calls may end in any order. */
  readonly hasParallelCalls?: true;
}

export interface ChaosSettings {
  readonly server: TemporalSettings;
  readonly agents: string;
  readonly bundle: string;
  readonly bundles: string;
}

export interface Chaos {
  readonly points: readonly Point[];
  /** Plays one run per list of points, several at a time. */
  kill(lists: readonly (readonly Point[])[], onKills?: (kills: Kills) => void): Promise<readonly Kills[]>;
}

export async function chaosOf(scenario: Scenario, server: TemporalSettings, atOnce = 8): Promise<Chaos> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-chaos-'));
  const agents = join(root, scenario.agents);
  const bundle = join(directory, 'bundle.json');
  writeFileSync(bundle, JSON.stringify(await madeBundle(agents)));
  const bed = new Bed(scenario, { server, agents, bundle, bundles: join(directory, 'bundles') }, directory);
  const control = await bed.play([]);
  return {
    points: control.logs.flatMap(({ part, events }) => {
      const count = part === '' ? events.length - 1 : events.length;
      return Array.from({ length: count }, (_, offset) => ({ part, offset }));
    }),
    kill: async (lists, onKills = () => undefined) => {
      const done = new Map<readonly Point[], Kills>();
      const left = [...lists];
      const lane = async (): Promise<void> => {
        for (let points = left.shift(); points !== undefined; points = left.shift()) {
          const began = Date.now();
          const { record, at } = await bed.play(points);
          const kills = { points, at, seconds: (Date.now() - began) / 1000, differences: differencesOf(control.record, record) };
          done.set(points, kills);
          onKills(kills);
        }
      };
      await Promise.all(Array.from({ length: Math.min(atOnce, lists.length) }, lane));
      return lists.flatMap((points) => done.get(points) ?? []);
    },
  };
}

class Bed {
  private readonly idle: Child[] = [];
  private runs = 0;

  constructor(
    private readonly scenario: Scenario,
    private readonly settings: ChaosSettings,
    private readonly directory: string,
  ) {}

  async play(points: readonly Point[]): Promise<Played> {
    const queue = `${basename(this.directory)}-${this.runs++}`;
    const { agent, input, by, program } = this.scenario;
    const place = this.scenario.placeOf(this.directory, queue);
    const open = (): Promise<HoldfastClient> => connect({ server: this.settings.server, taskQueue: queue });
    const [client, other] = [await open(), await open()];
    let worker = await this.serve(program, queue, place);
    try {
      const begun = await this.scenario.begin?.([client, other], queue);
      const run = begun === undefined ? await client.start(agent, input, { id: queue, ...defined({ by }) }) : client.run(queue);
      const attended = begun?.ended ?? this.scenario.attend?.(run);
      const following = logsOf(client, run);
      attended?.catch(() => undefined);
      const at: string[] = [];
      for (const point of points) {
        at.push(await reached(client, run, point));
        await worker.murder();
        worker = await this.serve(program, queue, place);
      }
      const logs = await following;
      await attended;
      this.idle.push(worker);
      return { record: await this.accountOf(run.id, logs, place), logs, at };
    } finally {
      await client.close();
      await other.close();
    }
  }

  private async serve(program: string, queue: string, place: string): Promise<Child> {
    const child = this.idle.pop() ?? spawnProgram(program, this.settings);
    child.process.stdin?.write(`serve ${queue} ${place}\n`);
    await child.line(`ready ${queue}`);
    return child;
  }

  private async accountOf(id: string, logs: readonly Log[], place: string): Promise<Account> {
    const { scenario } = this;
    const isOpen = scenario.hasParallelCalls === true;
    const parts = await Promise.all(
      logs.map(async ({ part, run, events }) => [part, await partAccountOf(id, run, events, isOpen)] as const),
    );
    return {
      parts: Object.fromEntries(parts),
      effects: scenario
        .effectsIn(place)
        .map((effect) => normalised(effect, id))
        .sort(),
    };
  }
}

async function logsOf(client: HoldfastClient, run: Run): Promise<readonly Log[]> {
  const events = await eventsOf(run);
  const children = events.flatMap((event) => (event.type === 'agent-start' && event.run !== undefined ? [event.run] : []));
  const logs = children.sort().map(async (id) => {
    const child = client.run(id);
    return { part: partOf(run.id, id), run: child, events: await eventsOf(child) };
  });
  return [{ part: '', run, events }, ...(await Promise.all(logs))];
}

async function eventsOf(run: Run): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of run.events({ deltas: false, signal: AbortSignal.timeout(patienceMs) })) events.push(event);
  return events;
}

async function reached(client: HoldfastClient, run: Run, { part, offset }: Point): Promise<string> {
  for await (const event of run.events({ deltas: false, signal: AbortSignal.timeout(patienceMs) })) {
    if (part === '' && event.offset === offset) return placeOf(event);
    if (event.type === 'agent-start' && event.run !== undefined && partOf(run.id, event.run) === part)
      return reached(client, await begun(client, event.run), { part: '', offset });
  }
  return 'never';
}

/** The server creates an announced isolated agent a moment later. */
async function begun(client: HoldfastClient, id: string): Promise<Run> {
  const child = client.run(id);
  for (;;) {
    try {
      await child.view();
      return child;
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'run-unknown') throw error;
      await setTimeout(5);
    }
  }
}

function partOf(root: string, id: string): string {
  return id.slice(root.length + 1);
}

function placeOf(event: RunEvent): string {
  return 'runPath' in event ? `${event.type} ${event.runPath.join('/')}` : event.type;
}

async function partAccountOf(id: string, run: Run, events: readonly RunEvent[], isOpen: boolean): Promise<PartAccount> {
  const { messages, usage, output, status } = await run.view();
  const paths: Record<string, string[]> = {};
  const questions = new Map<string, string>();
  const placeIn = (event: RunEvent): string => {
    if ('runPath' in event) return event.runPath.join('/');
    if (!isOpen) return '';
    if (event.type === 'interrupt-start') questions.set(event.interrupt.id, `questions of ${event.interrupt.address.join('/')}`);
    const id = event.type === 'interrupt-start' ? event.interrupt.id : event.type === 'interrupt-end' ? event.interruptId : '';
    return questions.get(id) ?? '';
  };
  for (const whole of events) {
    const { offset: _, time: __, ...event } = whole;
    if (('again' in event && event.again !== undefined) || event.type === 'tool-reconcile') continue;
    (paths[placeIn(whole)] ??= []).push(normalised(event, id));
  }
  const inOrder = new Set(['', ...questions.values()]);
  if (isOpen) for (const [path, lines] of Object.entries(paths)) if (!inOrder.has(path)) lines.sort();
  return {
    end: normalised({ usage, output, status }, id),
    messages: messages.map((message) => normalised(message, id)).sort(),
    paths,
  };
}

function normalised(value: unknown, runId: string): string {
  return (
    JSON.stringify(value)
      .split(runId)
      .join('RUN')
      .replace(/"(at|deadline|idleUntil)":\d{13}/g, '"$1":0')
      // A repeated `once` call gets a new address and keeps its key.
      .replace(/("address":"[^"]+\/t\d+\/\w+\.\d+)\.\d+"/g, '$1"')
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'id')
  );
}

function differencesOf(control: Account, record: Account): readonly string[] {
  const differences: string[] = [];
  const compare = (what: string, expected: unknown, found: unknown): void => {
    const [before, after] = [JSON.stringify(expected), JSON.stringify(found)];
    if (before !== after) differences.push(`${what}: ${after} instead of ${before}`);
  };
  compare('effects', control.effects, record.effects);
  for (const part of keysOf(control.parts, record.parts)) {
    const [expected, found] = [control.parts[part], record.parts[part]];
    const name = part === '' ? 'the run' : part;
    compare(`end of ${name}`, expected?.end, found?.end);
    compare(`transcript of ${name}`, expected?.messages, found?.messages);
    for (const path of keysOf(expected?.paths ?? {}, found?.paths ?? {}))
      compare(`events of ${name}${path === '' ? '' : ` at ${path}`}`, expected?.paths[path], found?.paths[path]);
  }
  return differences;
}

function keysOf(one: object, other: object): ReadonlySet<string> {
  return new Set([...Object.keys(one), ...Object.keys(other)]);
}
