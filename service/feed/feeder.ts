import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { defined } from '../../contract/defined';
import { codeOf, messageOf } from '../../contract/errors';
import type { FeedRun, FeedSource } from '../../client/reading/feed-source';
import type { Logger } from '../../host/logger';
import type { ServiceStore } from '../store/store';
import type { Notifier } from '../notices/notifier';
import { FeedLog } from './feed-log';
import type { FeedOfRun } from './tenant-feed';
import { FeedTaken, TenantFeed } from './tenant-feed';

export interface FeederSettings {
  readonly source: Pick<FeedSource, 'open' | 'closed' | 'events' | 'lengthOf' | 'stuck'>;
  readonly store: ServiceStore;
  readonly logger: Pick<Logger, 'warn'>;
  readonly keepMs: number;
  readonly pauseMs?: number;
  readonly notices?: {
    readonly tenants: () => Promise<readonly string[]>;
    readonly notifierOf: (log: FeedLog, signal: AbortSignal) => Pick<Notifier, 'run' | 'wake' | 'stuck'>;
  };
}

const leaderKey = 'feed-leader';
const leaseMs = 15_000;
/** Lists show an ended run after a moment. A whole look finds runs that a list showed later. */
const overlapMs = 10 * 60_000;
const wholeLookMs = 3_600_000;
const lengthsMs = 30_000;
const againMs = 60_000;
const mostReads = 16;
/** A run at work may have nothing for the feed, and be followed for days. */
const readMs = 1000;
const mostWaiting = 5000;

/** Writes the events of all runs to the feeds of their tenants, in one service of several. */
export class Feeder {
  private readonly mark = randomUUID();

  constructor(private readonly settings: FeederSettings) {}

  async run(signal: AbortSignal): Promise<void> {
    const { logger, pauseMs = 1000 } = this.settings;
    while (!signal.aborted) {
      try {
        if (await this.holdsLease()) await this.lead(signal);
      } catch (error) {
        if (!(error instanceof FeedTaken) && !signal.aborted) logger.warn(`The feed of events pauses: ${messageOf(error)}`);
      }
      await delay(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
    if ((await this.settings.store.get(leaderKey).catch(() => undefined)) === this.mark) await this.settings.store.delete(leaderKey);
  }

  /** Saves work: the numbers of chunks keep two leaders from writing twice. */
  private async holdsLease(): Promise<boolean> {
    const { store } = this.settings;
    const holder = await store.get(leaderKey);
    if (holder === this.mark) return store.set(leaderKey, this.mark, { ttlMs: leaseMs });
    return holder === undefined && (await store.set(leaderKey, this.mark, { ttlMs: leaseMs, ifAbsent: true }));
  }

  private async lead(signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const ending = AbortSignal.any([signal, over.signal]);
    setMaxListeners(0, ending);
    const session = new FeedSession(this.settings, ending);
    // A look at many runs takes longer than the lease.
    const renew = (): Promise<void> => this.holdsLease().then((holds) => (holds ? undefined : over.abort(new FeedTaken('the lease'))));
    const renewal = setInterval(() => void renew().catch(() => undefined), leaseMs / 3).unref();
    try {
      for (const tenant of (await this.settings.notices?.tenants()) ?? []) await session.feedOf(tenant);
      while (!signal.aborted && (await this.holdsLease())) await session.look();
    } finally {
      clearInterval(renewal);
      over.abort();
      await session.close();
    }
  }
}

class FeedSession {
  private readonly tenants = new Map<string, Promise<TenantFeed>>();
  private readonly tails = new Set<Promise<void>>();
  private readonly notifiers = new Map<string, { readonly notifier: Pick<Notifier, 'wake' | 'stuck'>; readonly over: Promise<void> }>();
  private failure: unknown;
  private readonly reads = new Set<FeedOfRun>();
  private closedSince: number | undefined;
  private wholeLookAt = 0;
  private lengthsAt = Date.now();

  constructor(
    private readonly settings: FeederSettings,
    private readonly signal: AbortSignal,
  ) {}

  async look(): Promise<void> {
    const { source, pauseMs = 1000 } = this.settings;
    const began = Date.now();
    if (began - this.wholeLookAt >= wholeLookMs) {
      this.closedSince = undefined;
      this.wholeLookAt = began;
    }
    const looksAtLengths = began - this.lengthsAt >= lengthsMs;
    if (looksAtLengths) this.lengthsAt = began;
    for await (const run of source.closed(this.closedSince)) await this.see(run, false);
    this.closedSince = began - overlapMs;
    for await (const run of source.open()) await this.see(run, looksAtLengths);
    for (const until = Date.now() + pauseMs; Date.now() < until && !this.signal.aborted;) {
      await this.flush();
      await delay(Math.min(100, pauseMs), undefined, { signal: this.signal, ref: false }).catch(() => undefined);
    }
    await this.flush();
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.tails, ...[...this.notifiers.values()].map(({ over }) => over)]);
    if (this.failure === undefined) for (const feed of this.tenants.values()) await (await feed).save().catch(() => undefined);
  }

  private async see(run: FeedRun, looksAtLengths: boolean): Promise<void> {
    this.check();
    const feed = await this.feedOf(run.tenant);
    const known = await feed.known(run);
    if (known.isAtWork || known.endedRunId === run.runId || run.startTime < known.startTime || Date.now() < (known.againAt ?? 0)) return;
    const isSame = known.shows === run.shows;
    if (isSame && (!looksAtLengths || known.length === (await this.settings.source.lengthOf(run.workflowId)))) return;
    known.startTime = run.startTime;
    known.isAtWork = true;
    while (this.reads.size >= mostReads) {
      await this.flush();
      await this.pass();
    }
    this.reads.add(known);
    if (run.isOpen) setTimeout(() => this.reads.delete(known), readMs).unref();
    delete known.endedRunId;
    const tail = this.tail(feed, run, known)
      .catch((error: unknown) => void (this.failure ??= error))
      .finally(() => {
        known.isAtWork = false;
        this.tails.delete(tail);
        this.reads.delete(known);
      });
    this.tails.add(tail);
  }

  /** Reads a run from where the feed has come to, until it waits or ends. */
  private async tail(feed: TenantFeed, run: FeedRun, known: FeedOfRun): Promise<void> {
    const { source, logger } = this.settings;
    // A change after this length leads to another read.
    let [length, isWhole] = ['', true];
    try {
      length = await source.lengthOf(run.workflowId);
      for await (const event of source.events(run.workflowId, known.next, this.signal)) {
        feed.add(run, event);
        if (run.isOpen) this.reads.delete(known);
        while (feed.size > mostWaiting) await this.pass();
      }
    } catch (error) {
      if (isOfServer(error) || this.signal.aborted) throw error;
      isWhole = false;
      known.againAt = Date.now() + againMs;
      logger.warn(`The feed of events lacks the rest of the run ${run.row.id}: ${messageOf(error)}`, { run: run.row.id });
    }
    while (feed.size > 0) await this.pass();
    this.check();
    if (!isWhole) return;
    if (!run.isOpen) await feed.ends(run.row.id, run.runId);
    else
      await this.tellIfStuck(run).catch((error: unknown) => {
        if (isOfServer(error)) throw error;
        logger.warn(`No notice tells whether the run ${run.row.id} is stuck: ${messageOf(error)}`, { run: run.row.id });
      });
    known.shows = run.shows;
    known.length = length;
  }

  private async tellIfStuck({ tenant, workflowId, runId, row }: FeedRun): Promise<void> {
    const known = this.notifiers.get(tenant);
    if (known === undefined) return;
    const stuck = await this.settings.source.stuck(workflowId);
    const { id, agent, tags, startedBy } = row;
    if (stuck === undefined) return;
    known.notifier.stuck({ run: { run: id, agent, tags, ...defined({ startedBy }) }, error: stuck.error, at: `${runId} ${stuck.offset}` });
  }

  feedOf(tenant: string): Promise<TenantFeed> {
    const { store, keepMs, notices } = this.settings;
    const known = this.tenants.get(tenant);
    if (known !== undefined) return known;
    const feed = new TenantFeed(store, tenant, keepMs).load();
    this.tenants.set(tenant, feed);
    const notifier = notices?.notifierOf(new FeedLog(store, tenant, keepMs), this.signal);
    if (notifier !== undefined) this.notifiers.set(tenant, { notifier, over: notifier.run() });
    return feed;
  }

  private async flush(): Promise<void> {
    this.check();
    for (const [tenant, feed] of this.tenants) if (await (await feed).flush()) this.notifiers.get(tenant)?.notifier.wake();
  }

  private async pass(): Promise<void> {
    this.signal.throwIfAborted();
    await delay(20, undefined, { signal: this.signal, ref: false });
  }

  private check(): void {
    this.signal.throwIfAborted();
    if (this.failure !== undefined) throw this.failure as Error;
  }
}

/** Other errors are of one run. */
function isOfServer(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'server-unreachable' || code === 'server-busy' || code === 'client-closed';
}
