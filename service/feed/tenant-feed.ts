import { defined } from '../../contract/defined';
import type { RunEvent } from '../../contract/events';
import type { FeedRun } from '../../client/reading/feed-source';
import { hashOf } from '../access/secrets';
import type { ServiceStore } from '../store/store';
import { placeOfTenant, readJson } from '../store/store';
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

type SavedRun = Required<Pick<FeedOfRun, 'next' | 'startTime' | 'endedRunId'>>;

interface SavedState {
  readonly chunk: number;
  /** The next offset of each run that has not ended. */
  readonly open: Readonly<Record<string, number>>;
}

const newRun: FeedOfRun = { next: 0, startTime: 0, isAtWork: false };
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
  private waiting: { readonly run: string; readonly next: number; readonly line: string }[] = [];
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
    const first = await this.log.first();
    const { chunk, open } = (await readJson<SavedState>(this.store, this.stateKey)) ?? { chunk: first, open: {} };
    for (const [run, next] of Object.entries(open)) this.runs.set(run, { ...newRun, next });
    this.chunk = Math.max(chunk, first);
    // `keep` may have been longer before.
    for (const head = await this.log.head(); this.chunk < head; this.chunk += 1)
      for (const line of (await this.log.read(this.chunk)) ?? []) {
        const { run, event } = JSON.parse(line) as FeedEntry;
        this.runs.set(run, { ...newRun, next: event.offset + 1 });
      }
    this.savedChunk = chunk;
    return this;
  }

  get size(): number {
    return this.waiting.length;
  }

  async known({ row: { id }, runId, startTime, isFirst }: FeedRun): Promise<FeedOfRun> {
    const known = this.runs.get(id) ?? (await this.find(id));
    // The id was used again.
    const isAnother = isFirst && known.endedRunId !== undefined && known.endedRunId !== runId;
    if (isAnother && startTime > known.startTime && !known.isAtWork) {
      known.next = 0;
      delete known.shows;
    }
    return known;
  }

  private async find(run: string): Promise<FeedOfRun> {
    const found = { ...newRun, ...(await readJson<SavedRun>(this.store, this.endedKey(run))) };
    if (this.runs.size > mostKnown)
      for (const [id, { endedRunId, isAtWork }] of this.runs) if (endedRunId !== undefined && !isAtWork) this.runs.delete(id);
    this.runs.set(run, found);
    return found;
  }

  add({ row: { id, agent, tags, startedBy } }: FeedRun, event: RunEvent): void {
    const entry: FeedEntry = { run: id, agent, tags, ...defined({ startedBy }), event };
    this.waiting.push({ run: id, next: event.offset + 1, line: JSON.stringify(entry) });
  }

  /** Writes what waits now, and returns whether there was anything. Throws FeedTaken. */
  async flush(): Promise<boolean> {
    const isNew = this.waiting.length > 0;
    for (let left = this.waiting.length; left > 0;) {
      const chunk = this.waiting.slice(0, this.sizeOfChunk(left));
      left -= chunk.length;
      const lines = chunk.map(({ line }) => line);
      if (!(await this.log.append(this.chunk, lines))) throw new FeedTaken(`chunk ${this.chunk}`);
      this.chunk += 1;
      this.waiting = this.waiting.slice(chunk.length);
      for (const { run, next } of chunk) {
        const known = this.runs.get(run);
        if (known !== undefined) known.next = next;
      }
    }
    const isOld = Date.now() - this.savedAt > Math.min(this.keepMs / 4, longestUnsavedMs);
    if (this.chunk - this.savedChunk >= chunksOfState || (isOld && this.chunk > this.savedChunk)) await this.save();
    return isNew;
  }

  /** After `flush`: the feed has all events of this ended Temporal run. */
  async ends(run: string, runId: string): Promise<void> {
    const known = this.runs.get(run);
    if (known === undefined) return;
    const { next, startTime } = known;
    const saved: SavedRun = { next, startTime, endedRunId: runId };
    await this.store.set(this.endedKey(run), JSON.stringify(saved), { ttlMs: endedMs });
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

  private sizeOfChunk(most: number): number {
    let [size, bytes] = [0, 0];
    for (const { line } of this.waiting.slice(0, Math.min(most, mostOfChunk))) {
      bytes += line.length;
      if (size > 0 && bytes > mostBytesOfChunk) break;
      size += 1;
    }
    return size;
  }

  private endedKey(run: string): string {
    return `feed-run/${hashOf(`${this.tenant}/${run}`)}`;
  }

  private get stateKey(): string {
    return `feed-state/${placeOfTenant(this.tenant)}`;
  }
}
