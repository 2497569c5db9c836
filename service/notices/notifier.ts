import { codeOf, messageOf } from '../../contract/errors';
import type { RunEvent } from '../../contract/events';
import type { FeedEvent } from '../../contract/feed';
import type { Failure } from '../../contract/messages/messages';
import type { NoticeType } from '../../contract/notices';
import { hashOf } from '../access/secrets';
import type { FeedLog } from '../feed/feed-log';
import { cursorOf, positionIn } from '../feed/feed-log';
import type { ServiceStore } from '../store/store';
import type { NotifyOptions } from './options';
import { isFor } from './options';
import type { Notice, NoticeRun, OutboxPosition } from './outbox';
import { NoticeOutbox, noticesSince } from './outbox';
import type { SenderSettings } from './sender';
import { pauseOf, Sender } from './sender';

export interface NotifierSettings extends SenderSettings {
  readonly store: ServiceStore;
  readonly receivers: readonly NotifyOptions[];
}

export interface StuckRun {
  readonly run: NoticeRun;
  readonly error: Failure;
  readonly at: string;
}

const restMs = 60_000;

/**
 * Makes notices of the events of one tenant. The store has a notice before the position in the feed moves on, and until the receiver has
 * taken the notice, so a notice arrives at least once, with one id.
 */
export class Notifier {
  private readonly outbox: NoticeOutbox;
  private readonly sender: Sender;
  private readonly now: () => number;
  private readonly stuckRuns: StuckRun[] = [];
  private isWoken = false;
  private endRest: () => void = () => undefined;

  constructor(
    private readonly settings: NotifierSettings,
    private readonly log: FeedLog,
    private readonly signal: AbortSignal,
  ) {
    this.outbox = new NoticeOutbox(settings.store, log.tenant);
    this.sender = new Sender(settings, this.outbox, signal);
    this.now = settings.now ?? Date.now;
  }

  /** Ends with the signal. After an error of the store, the work begins again at the position of the store. */
  async run(): Promise<void> {
    while (!this.signal.aborted) {
      await this.follow().catch((error: unknown) => {
        if (!this.signal.aborted) this.settings.logger.warn(`Notices pause: ${messageOf(error)}`);
      });
      await pauseOf(this.settings)(1000, this.signal);
    }
    await this.sender.close();
  }

  wake(): void {
    this.isWoken = true;
    this.endRest();
  }

  stuck(run: StuckRun): void {
    this.stuckRuns.push(run);
    this.wake();
  }

  private async follow(): Promise<void> {
    let at = (await this.outbox.position()) ?? (await this.start());
    for (let lookedAt = -Infinity; !this.signal.aborted;) {
      if (this.now() - lookedAt >= restMs) {
        this.sender.begin(await this.outbox.pending());
        lookedAt = this.now();
      }
      const page = await this.pageAfter(at.cursor);
      const keys: string[] = [];
      for (const event of page.events) if (event.event.time >= at.since) keys.push(...(await this.take(event)));
      if (page.next !== at.cursor) await this.outbox.moveTo((at = { ...at, cursor: page.next }));
      this.sender.begin(keys);
      if (page.more) continue;
      await this.takeStuck(at);
      await this.rest();
    }
  }

  private async rest(): Promise<void> {
    const over = new AbortController();
    this.endRest = () => over.abort();
    if (!this.isWoken) await pauseOf(this.settings)(restMs, AbortSignal.any([this.signal, over.signal]));
    this.isWoken = false;
  }

  private async pageAfter(since: string): ReturnType<FeedLog['page']> {
    const asked = { limit: 100, fits: () => true };
    try {
      return await this.log.page({ ...asked, since });
    } catch (error) {
      if (codeOf(error) !== 'cursor-expired') throw error;
      this.settings.logger.warn('Notices are missing, because the feed no longer has all events since the last notice.');
      return this.log.page(asked);
    }
  }

  private async start(): Promise<OutboxPosition> {
    const cursor = cursorOf({ chunk: await this.log.first(), index: 0 });
    const at = { tenant: this.log.tenant, cursor, since: await noticesSince(this.settings.store, this.now()) };
    await this.outbox.moveTo(at);
    return at;
  }

  private async take({ cursor, event, ...run }: FeedEvent): Promise<readonly string[]> {
    const type = typeOf(event);
    if (type === undefined) return [];
    const keys: string[] = [];
    for (const to of this.receiversOf(type, run)) {
      const notice = this.noticeFor(to, run, { type, at: event.time, mark: `${event.offset} ${event.time}` });
      keys.push(await this.outbox.add({ ...notice, event }, placeOf(cursor)));
    }
    return keys;
  }

  /** After all events of the feed, so that a notice about an earlier event comes first. */
  private async takeStuck({ cursor }: OutboxPosition): Promise<void> {
    for (let [stuck] = this.stuckRuns; stuck !== undefined; [stuck] = this.stuckRuns) {
      const { run, error, at } = stuck;
      for (const to of this.receiversOf('stuck', run)) {
        const notice = this.noticeFor(to, run, { type: 'stuck', at: this.now(), mark: `stuck ${at}` });
        const key = await this.outbox.addOnce({ ...notice, error }, `${placeOf(cursor)}.${notice.id}`);
        if (key !== undefined) this.sender.begin([key]);
      }
      this.stuckRuns.shift();
    }
  }

  private receiversOf(type: NoticeType, run: NoticeRun): ReadonlySet<string> {
    return new Set(this.settings.receivers.filter((one) => isFor(one, this.log.tenant, type, run)).map(({ to }) => to));
  }

  private noticeFor(to: string, run: NoticeRun, { type, at, mark }: Pick<Notice, 'type' | 'at'> & { readonly mark: string }): Notice {
    const id = `msg_${hashOf(JSON.stringify([this.log.tenant, run.run, mark, to])).slice(0, 32)}`;
    return { id, to, type, run, at, since: this.now(), attempts: 0 };
  }
}

function typeOf(event: RunEvent): NoticeType | undefined {
  switch (event.type) {
    case 'interrupt-start':
      return 'waiting';
    case 'interrupt-remind':
      return 'remind';
    case 'interrupt-escalate':
      return 'escalate';
    case 'run-end':
      return event.status === 'cancelled' ? undefined : event.status;
    default:
      return undefined;
  }
}

/** Sorts as the cursors do. */
function placeOf(cursor: string): string {
  const { chunk, index } = positionIn(cursor);
  return `${String(chunk).padStart(12, '0')}.${String(index).padStart(6, '0')}`;
}
