import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { connect } from '../../client/connect';
import type { Run } from '../../client/run';
import type { RunEvent } from '../../contract/plain/events';
import type { TemporalSettings } from '../../host/connection';
import { bundleAgents } from '../../worker/bundle';
import type { Child } from './child';
import { spawnProgram } from './child';
import type { ResearchSettings } from './research-process';
import { notesIn } from './research-process';

const root = extname(__filename) === '.ts' ? join(__dirname, '..', '..') : join(__dirname, '..', '..', '..');
const patienceMs = 120_000;

/** What came of a run whose worker was killed when readers had seen that event. */
export interface Kill {
  readonly point: number;
  /** Such as `tool-start research/desks/law`. */
  readonly at: string;
  readonly seconds: number;
  /** Empty: it came to what the undisturbed run came to. */
  readonly differences: readonly string[];
}

interface Played {
  readonly record: Account;
  readonly events: number;
  readonly at: string;
}

/** What a run came to, without ids, times and the order between agents that work at the same time. */
interface Account {
  readonly end: string;
  readonly messages: readonly string[];
  readonly paths: Readonly<Record<string, readonly string[]>>;
  readonly notes: readonly string[];
}

export interface Chaos {
  /** How many events readers see of an undisturbed run. */
  readonly events: number;
  /** Plays a run for each of these points, some at a time. */
  kill(points: readonly number[], onKill?: (kill: Kill) => void): Promise<readonly Kill[]>;
}

/** Plays examples/research with workers that are killed, and compares with a run that nobody disturbed. */
export async function researchChaos(server: TemporalSettings, atOnce = 8): Promise<Chaos> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-chaos-'));
  const agents = join(root, 'examples', 'research', 'agents.ts');
  const bundle = join(directory, 'bundle.json');
  writeFileSync(bundle, JSON.stringify(await bundleAgents(agents)));
  const bed = new Bed({ server, agents, bundle, bundles: join(directory, 'bundles') }, directory);
  const control = await bed.play(undefined);
  return {
    events: control.events,
    kill: async (points, onKill = () => undefined) => {
      const kills: Kill[] = [];
      const left = [...points];
      const lane = async (): Promise<void> => {
        for (let point = left.shift(); point !== undefined; point = left.shift()) {
          const began = Date.now();
          const { record, at } = await bed.play(point);
          const kill = { point, at, seconds: (Date.now() - began) / 1000, differences: differencesOf(control.record, record) };
          kills.push(kill);
          onKill(kill);
        }
      };
      await Promise.all(Array.from({ length: Math.min(atOnce, points.length) }, lane));
      return kills.sort((a, b) => a.point - b.point);
    },
  };
}

class Bed {
  private readonly idle: Child[] = [];
  private runs = 0;

  constructor(
    private readonly settings: ResearchSettings,
    private readonly directory: string,
  ) {}

  async play(point: number | undefined): Promise<Played> {
    const queue = `chaos-${process.pid}-${this.runs++}`;
    const file = join(this.directory, `${queue}.notes`);
    const client = await connect({ server: this.settings.server, taskQueue: queue });
    let worker = await this.serve(queue, file);
    try {
      const run = await client.start('research', 'What became of the canal?', { id: queue });
      const events: RunEvent[] = [];
      let at = 'never';
      for await (const event of run.events({ deltas: false, signal: AbortSignal.timeout(patienceMs) })) {
        events.push(event);
        if (event.offset !== point) continue;
        at = 'runPath' in event ? `${event.type} ${event.runPath.join('/')}` : event.type;
        await worker.murder();
        worker = await this.serve(queue, file);
      }
      this.idle.push(worker);
      return { record: await recordOf(run, events, file), events: events.length, at };
    } finally {
      await client.close();
    }
  }

  /** A process that is there already, or a new one. */
  private async serve(queue: string, file: string): Promise<Child> {
    const child = this.idle.pop() ?? spawnProgram('research-process', this.settings);
    child.process.stdin?.write(`serve ${queue} ${file}\n`);
    await child.line(`ready ${queue}`);
    return child;
  }
}

async function recordOf(run: Run, events: readonly RunEvent[], file: string): Promise<Account> {
  const { messages, usage, output, status } = await run.view();
  const paths: Record<string, string[]> = {};
  for (const { offset: _, time: __, ...event } of events) {
    // Of a `once` call that had not happened readers see both starts.
    if ('again' in event && event.again !== undefined) continue;
    const path = 'runPath' in event ? event.runPath.join('/') : '';
    (paths[path] ??= []).push(normalised(event, run.id));
  }
  return {
    end: normalised({ usage, output, status }, run.id),
    messages: messages.map((message) => normalised(message, run.id)).sort(),
    paths,
    notes: notesIn(file)
      .map(({ key, subject }) => `${normalised(key, run.id)} ${subject}`)
      .sort(),
  };
}

function normalised(value: unknown, runId: string): string {
  return (
    JSON.stringify(value)
      .split(runId)
      .join('RUN')
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
  compare('end', control.end, record.end);
  compare('transcript', control.messages, record.messages);
  compare('notes', control.notes, record.notes);
  for (const path of new Set([...Object.keys(control.paths), ...Object.keys(record.paths)]))
    compare(`events of ${path === '' ? 'the run' : path}`, control.paths[path], record.paths[path]);
  return differences;
}
