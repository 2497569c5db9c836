import type { ListedNotice, ListedNotices, NoticeType } from '../../contract/notices';
import type { RunEvent } from '../../contract/events';
import { HoldfastError } from '../../contract/errors';
import { defined } from '../../contract/defined';
import type { Failure } from '../../contract/messages/messages';
import { hashOf } from '../access/secrets';
import type { FeedEntry } from '../feed/feed-log';
import type { ServiceStore } from '../store/store';
import { readJson } from '../store/store';

/** The run of a notice. */
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

/** Where the outbox has come to in the feed. Older events have no notices. */
export interface OutboxPosition {
  readonly cursor: string;
  readonly since: number;
}

const undeliveredMs = 30 * 86_400_000;

/** The notices of one tenant that no receiver has taken, in the store of the service. */
export class NoticeOutbox {
  constructor(
    private readonly store: ServiceStore,
    readonly tenant: string,
  ) {}

  position(): Promise<OutboxPosition | undefined> {
    return readJson(this.store, `notices-at/${this.tenant}`);
  }

  async moveTo(position: OutboxPosition): Promise<void> {
    await this.store.set(`notices-at/${this.tenant}`, JSON.stringify(position));
  }

  /** Returns the key of the notice. Keys of one run and receiver are in the order of `place`. */
  async add(notice: Notice, place: string): Promise<string> {
    const key = `${this.pendingPrefix}${hashOf(JSON.stringify([notice.to, notice.run.run])).slice(0, 32)}/${place}`;
    await this.store.set(key, JSON.stringify(notice), { ifAbsent: true });
    return key;
  }

  /** For notices without an event of the feed. Returns undefined if the notice was added before. */
  async addOnce(notice: Notice, place: string): Promise<string | undefined> {
    const told = `notice-told/${this.tenant}/${notice.id}`;
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

  async write(key: string, notice: Notice): Promise<void> {
    await this.store.set(key, JSON.stringify(notice));
  }

  async delete(key: string): Promise<void> {
    await this.store.delete(key);
  }

  async giveUp(key: string, notice: Notice): Promise<void> {
    await this.store.set(this.undeliveredKey(notice.id), JSON.stringify(notice), { ttlMs: undeliveredMs });
    await this.delete(key);
  }

  /** Throws 'notice-unknown'. */
  async undelivered(id: string): Promise<{ readonly key: string; readonly notice: Notice }> {
    const key = this.undeliveredKey(id);
    const notice = await this.read(key);
    if (notice === undefined) throw new HoldfastError('notice-unknown', `There is no undelivered notice "${id}".`);
    return { key, notice };
  }

  /** Undelivered notices come first. */
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

  private get pendingPrefix(): string {
    return `notice/${this.tenant}/`;
  }

  private get undeliveredPrefix(): string {
    return `notice-undelivered/${this.tenant}/`;
  }

  private undeliveredKey(id: string): string {
    return `${this.undeliveredPrefix}${id}`;
  }
}

function listed({ id, to, type, run: { run, agent }, at, attempts, problem }: Notice, state: ListedNotice['state']): ListedNotice {
  return { id, to, type, run, agent, at: new Date(at).toISOString(), state, attempts, ...defined({ problem }) };
}
