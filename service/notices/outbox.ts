import type { ListedNotice, ListedNotices, NoticeType } from '../../contract/notices';
import type { RunEvent } from '../../contract/events';
import { HoldfastError } from '../../contract/errors';
import { defined } from '../../contract/defined';
import type { Failure } from '../../contract/messages/messages';
import { hashOf } from '../access/secrets';
import type { FeedEntry } from '../feed/feed-log';
import type { ServiceStore } from '../store/store';
import { placeOfTenant, readJson } from '../store/store';

export type NoticeRun = Omit<FeedEntry, 'event'>;

export interface Notice {
  readonly id: string;
  readonly to: string;
  readonly type: NoticeType;
  readonly run: NoticeRun;
  /** In milliseconds since 1970. */
  readonly at: number;
  /** Absent for `stuck`. */
  readonly event?: RunEvent;
  readonly error?: Failure;
  /** When the service took the notice, in milliseconds since 1970. */
  readonly since: number;
  readonly attempts: number;
  readonly problem?: Failure;
}

/** Where the outbox has come to in the feed. Events before `since` have no notices. */
export interface OutboxPosition {
  readonly tenant: string;
  readonly cursor: string;
  readonly since: number;
}

const undeliveredMs = 30 * 86_400_000;
const positions = 'notices-at/';
/** Clocks of workers and services may differ by this much. */
const skewMs = 60_000;

/** When the first service with receivers began, in milliseconds since 1970. */
export async function noticesSince(store: ServiceStore, now: number): Promise<number> {
  const key = 'notices-since';
  await store.set(key, String(now - skewMs), { ifAbsent: true });
  return Number(await store.get(key));
}

/** Tenants with notices, also if the server no longer has their runs. */
export async function tenantsOfNotices(store: ServiceStore): Promise<readonly string[]> {
  const found: string[] = [];
  for (const key of await store.list(positions)) {
    const position = await readJson<OutboxPosition>(store, key);
    if (position !== undefined) found.push(position.tenant);
  }
  return found;
}

/** The notices of one tenant that no receiver has taken, in the store of the service. */
export class NoticeOutbox {
  constructor(
    private readonly store: ServiceStore,
    readonly tenant: string,
  ) {}

  position(): Promise<OutboxPosition | undefined> {
    return readJson(this.store, this.positionKey);
  }

  async moveTo(position: OutboxPosition): Promise<void> {
    await this.store.set(this.positionKey, JSON.stringify(position));
  }

  /** Returns the key of the notice. Keys of one run and receiver are in the order of `place`. */
  async add(notice: Notice, place: string): Promise<string> {
    const { to, run } = notice;
    const key = `${this.pendingPrefix}${hashOf(to).slice(0, 16)}/${hashOf(run.run).slice(0, 32)}/${place}`;
    await this.store.set(key, JSON.stringify(notice), { ifAbsent: true });
    return key;
  }

  /** For notices without an event of the feed. Returns undefined if the notice was added before. */
  async addOnce(notice: Notice, place: string): Promise<string | undefined> {
    const told = `notice-told/${this.place}/${notice.id}`;
    if ((await this.store.get(told)) !== undefined) return undefined;
    const key = await this.add(notice, place);
    await this.store.set(told, '', { ttlMs: undeliveredMs });
    return key;
  }

  pending(): Promise<readonly string[]> {
    return this.store.list(this.pendingPrefix);
  }

  read(key: string): Promise<Notice | undefined> {
    return readJson(this.store, key);
  }

  /** After a failed attempt. Another service may have sent the notice meanwhile. */
  async keep(key: string, notice: Notice): Promise<void> {
    if ((await this.store.get(key)) !== undefined) await this.store.set(key, JSON.stringify(notice));
  }

  /** The receiver has taken the notice. A service may have died while the notice was given up. */
  async remove(key: string, { id, attempts }: Notice): Promise<void> {
    if (attempts > 0) await this.store.delete(this.undeliveredKey(id));
    await this.store.delete(key);
  }

  async giveUp(key: string, notice: Notice): Promise<void> {
    await this.store.set(this.undeliveredKey(notice.id), JSON.stringify(notice), { ttlMs: undeliveredMs });
    await this.store.delete(key);
  }

  /** Throws 'notice-unknown'. */
  async undelivered(id: string): Promise<Notice> {
    const notice = /^msg_[0-9a-f]{32}$/.test(id) ? await this.read(this.undeliveredKey(id)) : undefined;
    if (notice === undefined)
      throw new HoldfastError('notice-unknown', `There is no undelivered notice "${id}". The service sends pending notices itself.`);
    return notice;
  }

  async drop(id: string): Promise<void> {
    await this.store.delete(this.undeliveredKey(id));
  }

  async list(limit: number): Promise<ListedNotices> {
    const undelivered = await this.store.list(this.undeliveredPrefix);
    const keys = [...undelivered, ...(await this.pending())];
    const notices: ListedNotice[] = [];
    for (const [at, key] of keys.slice(0, limit).entries()) {
      const notice = await this.read(key);
      if (notice !== undefined) notices.push(listed(notice, at < undelivered.length ? 'undelivered' : 'pending'));
    }
    return { notices, more: keys.length > limit };
  }

  private get place(): string {
    return placeOfTenant(this.tenant);
  }

  private get positionKey(): string {
    return `${positions}${this.place}`;
  }

  private get pendingPrefix(): string {
    return `notice/${this.place}/`;
  }

  private get undeliveredPrefix(): string {
    return `notice-undelivered/${this.place}/`;
  }

  private undeliveredKey(id: string): string {
    return `${this.undeliveredPrefix}${id}`;
  }
}

function listed({ id, to, type, run: { run, agent }, at, attempts, problem }: Notice, state: ListedNotice['state']): ListedNotice {
  return { id, to, type, run, agent, at: new Date(at).toISOString(), state, attempts, ...defined({ problem }) };
}
