import type { FeedEvent, FeedPage } from '../../contract/feed';
import { HoldfastError } from '../../contract/errors';
import { shown } from '../../contract/shown';
import type { ServiceStore } from '../store/store';

export type FeedEntry = Omit<FeedEvent, 'cursor'>;

export interface FeedPosition {
  readonly chunk: number;
  readonly index: number;
}

export interface PageAsked {
  /** Absent: the oldest event that is kept. */
  readonly since?: string;
  readonly limit: number;
  readonly fits: (entry: FeedEntry) => boolean | Promise<boolean>;
}

const mostChunksOfPage = 50;

/** The events of a tenant in chunks that are numbered from 0. A chunk never changes. */
export class FeedLog {
  constructor(
    private readonly store: ServiceStore,
    readonly tenant: string,
    private readonly keepMs: number,
  ) {}

  /** Returns false if another service has written the chunk. */
  async append(chunk: number, entries: readonly FeedEntry[]): Promise<boolean> {
    const isNew = await this.store.set(this.keyOf(chunk), JSON.stringify(entries), { ifAbsent: true, ttlMs: this.keepMs });
    if (isNew) await this.store.set(this.headKey, String(chunk + 1));
    return isNew;
  }

  async read(chunk: number): Promise<readonly FeedEntry[] | undefined> {
    const text = await this.store.get(this.keyOf(chunk));
    return text === undefined ? undefined : (JSON.parse(text) as readonly FeedEntry[]);
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
    for (let chunks = 0; chunks < mostChunksOfPage; chunks += 1) {
      const entries = (await this.read(chunk)) ?? (await this.written(chunk, since));
      if (entries === undefined) return { events, next: cursorOf({ chunk, index: 0 }), more: false };
      for (; index < entries.length; index += 1) {
        if (events.length === limit) return { events, next: cursorOf({ chunk, index }), more: true };
        const entry = entries[index];
        if (entry !== undefined && (await fits(entry))) events.push({ cursor: cursorOf({ chunk, index: index + 1 }), ...entry });
      }
      chunk += 1;
      index = 0;
    }
    return { events, next: cursorOf({ chunk, index }), more: true };
  }

  /** Reads a chunk that was missing a moment ago. Undefined: the end of the feed. */
  private async written(chunk: number, since: string | undefined): Promise<readonly FeedEntry[] | undefined> {
    const head = await this.head();
    if (chunk === head) return undefined;
    if (chunk > head) throw new HoldfastError('request-invalid', `since: ${shown(since)} is no cursor of this feed.`);
    const entries = await this.read(chunk);
    if (entries !== undefined) return entries;
    throw new HoldfastError('cursor-expired', `The feed no longer has the events after ${shown(since)}, because they are too old.`);
  }

  private keyOf(chunk: number): string {
    return `feed/${this.tenant}/${String(chunk).padStart(12, '0')}`;
  }

  private get headKey(): string {
    return `feed-head/${this.tenant}`;
  }
}

export function cursorOf({ chunk, index }: FeedPosition): string {
  return `${chunk}.${index}`;
}

export function positionIn(cursor: string): FeedPosition {
  const [, chunk, index] = /^(\d{1,12})\.(\d{1,6})$/.exec(cursor) ?? [];
  if (chunk === undefined) throw new HoldfastError('request-invalid', `since: ${shown(cursor)} is no cursor of this feed.`);
  return { chunk: Number(chunk), index: Number(index) };
}
