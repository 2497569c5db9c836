import type { FeedEvent, FeedPage } from '../../contract/feed';
import { HoldfastError } from '../../contract/errors';
import { shown } from '../../contract/shown';
import type { ServiceStore } from '../store/store';
import { placeOfTenant } from '../store/store';

export type FeedEntry = Omit<FeedEvent, 'cursor'>;

export interface FeedPosition {
  readonly chunk: number;
  readonly index: number;
}

export interface PageAsked {
  /** Absent: the oldest event that is kept. */
  readonly since?: string | undefined;
  readonly limit: number;
  readonly fits: (entry: FeedEntry) => boolean | Promise<boolean>;
}

const mostChunksOfPage = 50;
const mostBytesOfPage = 4 * 1024 * 1024;

/** The events of a tenant in chunks that are numbered from 0. A chunk never changes, and has a line of JSON for each event. */
export class FeedLog {
  constructor(
    private readonly store: ServiceStore,
    readonly tenant: string,
    private readonly keepMs: number,
  ) {}

  /** Returns false if another service has written the chunk. */
  async append(chunk: number, lines: readonly string[]): Promise<boolean> {
    const isNew = await this.store.set(this.keyOf(chunk), lines.join('\n'), { ifAbsent: true, ttlMs: this.keepMs });
    if (isNew) await this.store.set(this.headKey, String(chunk + 1));
    return isNew;
  }

  async read(chunk: number): Promise<readonly string[] | undefined> {
    return (await this.store.get(this.keyOf(chunk)))?.split('\n');
  }

  /** The number of the next chunk. After a crash between a chunk and its head, the head is one too low. */
  async head(): Promise<number> {
    let head = Number((await this.store.get(this.headKey)) ?? 0);
    while ((await this.store.get(this.keyOf(head))) !== undefined) head += 1;
    return head;
  }

  /** Chunks end in the order of their numbers. */
  async first(): Promise<number> {
    let [low, high] = [0, await this.head()];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((await this.store.get(this.keyOf(middle))) === undefined) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  async page({ since, limit, fits }: PageAsked): Promise<FeedPage> {
    let { chunk, index } = since === undefined ? { chunk: await this.first(), index: 0 } : positionIn(since);
    const events: FeedEvent[] = [];
    let bytes = 0;
    for (let chunks = 0; chunks < mostChunksOfPage; chunks += 1) {
      const lines = (await this.read(chunk)) ?? (await this.written(chunk, since));
      if (lines === undefined) return { events, next: cursorOf({ chunk, index: 0 }), more: false };
      for (const line of lines.slice(index)) {
        const size = Buffer.byteLength(line);
        const isFull = events.length === limit || (events.length > 0 && bytes + size > mostBytesOfPage);
        if (isFull) return { events, next: cursorOf({ chunk, index }), more: true };
        index += 1;
        const entry = JSON.parse(line) as FeedEntry;
        if (!(await fits(entry))) continue;
        events.push({ cursor: cursorOf({ chunk, index }), ...entry });
        bytes += size;
      }
      chunk += 1;
      index = 0;
    }
    return { events, next: cursorOf({ chunk, index }), more: true };
  }

  /** Reads a chunk that was missing a moment ago. Undefined: the end of the feed. */
  private async written(chunk: number, since: string | undefined): Promise<readonly string[] | undefined> {
    const head = await this.head();
    if (chunk === head) return undefined;
    if (chunk > head) throw noCursor(since);
    const lines = await this.read(chunk);
    if (lines !== undefined) return lines;
    throw new HoldfastError('cursor-expired', `The feed no longer has the events after ${shown(since)}, because they are too old.`);
  }

  private keyOf(chunk: number): string {
    return `feed/${placeOfTenant(this.tenant)}/${String(chunk).padStart(12, '0')}`;
  }

  private get headKey(): string {
    return `feed-head/${placeOfTenant(this.tenant)}`;
  }
}

export function cursorOf({ chunk, index }: FeedPosition): string {
  return `${chunk}.${index}`;
}

export function positionIn(cursor: string): FeedPosition {
  const [, chunk, index] = /^(\d{1,12})\.(\d{1,6})$/.exec(cursor) ?? [];
  if (chunk === undefined) throw noCursor(cursor);
  return { chunk: Number(chunk), index: Number(index) };
}

function noCursor(since: string | undefined): HoldfastError {
  return new HoldfastError('request-invalid', `since: ${shown(since)} is no cursor of this feed.`);
}
