import type { RunEvent } from '../../contract/events';
import { runIdOf } from '../../contract/names';
import type { FeedRun } from '../../client/reading/feed-source';
import { hashOf } from '../access/secrets';
import type { ServiceStore } from '../store/store';
import type { FeedEntry } from './feed-log';
import { FeedLog } from './feed-log';

/** Another service has written to the feed, so this one's positions are old. */
export class FeedTaken extends Error {}

export interface FeedOfRun {
  /** The offset of the first event that the feed lacks. */
  next: number;
  startTime: number;
  /** What the list showed before the last read. Absent: not read since the feed was opened. */
  shows?: string;
  length?: string;
  againAt?: number;
  isAtWork: boolean;
  /** The feed has everything of this Temporal run, which has ended. */
  endedRunId?: string;
}

interface SavedRun {
  readonly next: number;
  readonly startTime: number;
  readonly runId: string;
}

interface SavedState {
  readonly chunk: number;
  /** The next offset of each run that has not ended. */
  readonly open: Readonly<Record<string, number>>;
}

const mostOfChunk = 500;
const mostBytesOfChunk = 512 * 1024;
const chunksOfState = 64;
const longestUnsavedMs = 600_000;
const mostKnown = 100_000;
const endedMs = 400 * 86_400_000;

/**
 * Writes the feed of one tenant. A chunk is written only if its number is free, so two services never write one event twice. The
 * saved state only shortens the reading.
 */
export class TenantFeed {
  readonly runs = new Map<string, FeedOfRun>();
  private readonly log: FeedLog;
  private waiting: FeedEntry[] = [];
  private chunk = 0;
  private savedChunk = 0;
  private savedAt = Date.now();

  constructor(
    private readonly store: ServiceStore,
    readonly tenant: string,
    private readonly keepMs: number,
  ) {
    this.log = new FeedLog(store, tenant, keepMs);
  }

  async load(): Promise<this> {
    const saved = await this.store.get(this.stateKey);
    const { chunk, open }: SavedState =
      saved === undefined ? { chunk: await this.log.first(), open: {} } : (JSON.parse(saved) as SavedState);
    for (const [run, next] of Object.entries(open)) this.runs.set(run, freshRun(next));
    this.chunk = Math.max(chunk, await this.log.first());
    // `keep` may have been longer before.
    for (const head = await this.log.head(); this.chunk < head; this.chunk += 1)
      for (const { run, event } of (await this.log.read(this.chunk)) ?? []) this.runs.set(run, freshRun(event.offset + 1));
    this.savedChunk = chunk;
    return this;
  }

  get size(): number {
    return this.waiting.length;
  }

  async known(row: FeedRun): Promise<FeedOfRun> {
    const known = await this.find(runIdOf(row.workflowId));
    // The id was used again.
    const isAnother = row.isFirst && known.endedRunId !== undefined && known.endedRunId !== row.runId;
    if (isAnother && row.startTime > known.startTime && !known.isAtWork) {
      known.next = 0;
      delete known.shows;
    }
    return known;
  }

  private async find(run: string): Promise<FeedOfRun> {
    const known = this.runs.get(run);
    if (known !== undefined) return known;
    const saved = await this.store.get(this.endedKey(run));
    const { next, startTime = 0, runId }: Partial<SavedRun> = saved === undefined ? {} : (JSON.parse(saved) as SavedRun);
    if (this.runs.size > mostKnown) this.forgetEnded();
    const found: FeedOfRun = { ...freshRun(next ?? 0), startTime, ...(runId === undefined ? {} : { endedRunId: runId }) };
    // Another row of the run may have been read meanwhile.
    const other = this.runs.get(run);
    if (other !== undefined) return other;
    this.runs.set(run, found);
    return found;
  }

  add({ row: { id, agent, tags, startedBy } }: FeedRun, event: RunEvent): void {
    this.waiting.push({ run: id, agent, tags, ...(startedBy === undefined ? {} : { startedBy }), event });
  }

  /** Writes what waits now. Throws FeedTaken. */
  async flush(): Promise<void> {
    for (let left = this.waiting.length; left > 0;) {
      const entries = this.taken(left);
      left -= entries.length;
      if (!(await this.log.append(this.chunk, entries))) throw new FeedTaken(`chunk ${this.chunk}`);
      this.chunk += 1;
      this.waiting = this.waiting.slice(entries.length);
      for (const { run, event } of entries) {
        const known = this.runs.get(run);
        if (known !== undefined) known.next = event.offset + 1;
      }
    }
    const isOld = Date.now() - this.savedAt > Math.min(this.keepMs / 4, longestUnsavedMs);
    if (this.chunk - this.savedChunk >= chunksOfState || (isOld && this.chunk > this.savedChunk)) await this.save();
  }

  /** After `flush`: the feed has all events of this ended Temporal run. */
  async ends(run: string, runId: string): Promise<void> {
    const known = this.runs.get(run);
    if (known === undefined) return;
    await this.store.set(this.endedKey(run), JSON.stringify({ next: known.next, startTime: known.startTime, runId } satisfies SavedRun), {
      ttlMs: endedMs,
    });
    known.endedRunId = runId;
  }

  async save(): Promise<void> {
    const open = Object.fromEntries(
      [...this.runs].flatMap(([run, { next, endedRunId }]) => (endedRunId === undefined ? [[run, next]] : [])),
    );
    await this.store.set(this.stateKey, JSON.stringify({ chunk: this.chunk, open } satisfies SavedState));
    this.savedChunk = this.chunk;
    this.savedAt = Date.now();
  }

  private forgetEnded(): void {
    for (const [run, { endedRunId, isAtWork }] of this.runs) if (endedRunId !== undefined && !isAtWork) this.runs.delete(run);
  }

  private taken(most: number): readonly FeedEntry[] {
    let bytes = 0;
    const waiting = this.waiting.slice(0, most);
    const end = waiting.findIndex(
      (entry, at) => at > 0 && (at >= mostOfChunk || (bytes += JSON.stringify(entry).length) > mostBytesOfChunk),
    );
    return end === -1 ? waiting : waiting.slice(0, end);
  }

  private endedKey(run: string): string {
    return `feed-run/${hashOf(`${this.tenant}/${run}`)}`;
  }

  private get stateKey(): string {
    return `feed-state/${this.tenant}`;
  }
}

function freshRun(next: number): FeedOfRun {
  return { next, startTime: 0, isAtWork: false };
}
