import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import { defined } from '../../contract/defined';
import type { Run } from '../../client/run';
import type { RunEvent } from '../../contract/events';
import type { TemporalSettings } from '../../host/connection';
import { madeBundle } from '../support/made-bundle';
import type { Child } from './child';
import { spawnProgram } from './child';

export const root = extname(__filename) === '.ts' ? join(__dirname, '..', '..') : join(__dirname, '..', '..', '..');
const patienceMs = 120_000;

/** An event of one log: that of the run, or that of an isolated agent in it. */
export interface Point {
  /** Such as `desks.law`; empty for the run that was started. */
  readonly part: string;
  readonly offset: number;
}

/** What came of a run whose worker was killed each time when readers had seen such an event. */
export interface Kills {
  readonly points: readonly Point[];
  /** Such as `tool-start research/desks/law`. */
  readonly at: readonly string[];
  readonly seconds: number;
  /** Empty: it came to what the undisturbed run came to. */
  readonly differences: readonly string[];
}

/** The log of a run, or of an isolated agent in it. */
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

/** What a run came to, without ids, times and the order between agents that work at the same time. */
interface Account {
  readonly parts: Readonly<Record<string, PartAccount>>;
  readonly effects: readonly string[];
}

interface PartAccount {
  readonly end: string;
  readonly messages: readonly string[];
  readonly paths: Readonly<Record<string, readonly string[]>>;
}

/** What is played: an agent, its worker process, and what its tools do to the world. */
export interface Scenario {
  /** A compiled program of this folder that says `ready QUEUE` after a line `serve QUEUE PLACE`. */
  readonly program: string;
  /** The agents module, from the root of the repository. */
  readonly agents: string;
  readonly agent: string;
  readonly input: string;
  /** Who starts it. */
  readonly by?: string;
  /** Begins it in another way, with two clients. What it gives settles when the run has ended. */
  begin?(clients: readonly [HoldfastClient, HoldfastClient], id: string): Promise<{ readonly ended: Promise<void> }>;
  /** Where the effects of a run go. */
  placeOf(directory: string, queue: string): string;
  /** What the run did, each thing as often as it was done. */
  effectsIn(place: string): readonly string[];
  /** Answers what the run asks, until it has ended. */
  attend?(run: Run): Promise<void>;
  /** Its calls run beside each other: which one ends first is left open. */
  readonly hasParallelCalls?: true;
}

/** What a worker process of a scenario is told. */
export interface ChaosSettings {
  readonly server: TemporalSettings;
  readonly agents: string;
  /** File with the bundle of these agents. */
  readonly bundle: string;
  readonly bundles: string;
}

export interface Chaos {
  /** Every event of an undisturbed run but the one that ends it: nothing is left to kill there. */
  readonly points: readonly Point[];
  /** Plays a run for each list of points, some at a time. */
  kill(lists: readonly (readonly Point[])[], onKills?: (kills: Kills) => void): Promise<readonly Kills[]>;
}

/** Plays a scenario with workers that are killed, and compares with a run that nobody disturbed. */
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

  /** A process that is there already, or a new one. */
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

/** The log of the run to its end, and then those of the isolated agents that it names. */
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

/** When readers have seen the event, what it is. */
async function reached(client: HoldfastClient, run: Run, { part, offset }: Point): Promise<string> {
  for await (const event of run.events({ deltas: false, signal: AbortSignal.timeout(patienceMs) })) {
    if (part === '' && event.offset === offset) return placeOf(event);
    if (event.type === 'agent-start' && event.run !== undefined && partOf(run.id, event.run) === part)
      return reached(client, await begun(client, event.run), { part: '', offset });
  }
  return 'never';
}

/** An isolated agent that its run has announced; the server makes it a moment later. */
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
    // Of a `once` call that had not happened readers see both starts, and what the tool said of it when it was asked.
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
      // When somebody is to be asked again, and until when.
      .replace(/"(at|deadline|idleUntil)":\d{13}/g, '"$1":0')
      // A `once` call that had not happened is made again under an address of its own; its key stays.
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
