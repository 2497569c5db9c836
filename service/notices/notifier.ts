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
import { NoticeOutbox } from './outbox';
import type { SenderSettings } from './sender';
import { pauseOf, Sender } from './sender';

export interface NotifierSettings extends SenderSettings {
  readonly store: ServiceStore;
  readonly receivers: readonly NotifyOptions[];
}

/** A run that goes on only after a repair. `offset`: of its next event. */
export interface StuckRun {
  readonly error: Failure;
  readonly offset: number;
}

/** Clocks of workers and services may differ by this much. */
const skewMs = 60_000;
const lookMs = 500;

/**
 * Makes notices of the events of one tenant. The store has a notice before the position in the feed moves on, and until the receiver has
 * taken the notice, so a notice arrives at least once, with one id.
 */
export class Notifier {
  private readonly outbox: NoticeOutbox;
  private readonly sender: Sender;
  private readonly now: () => number;
  private at: OutboxPosition | undefined;

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
      await this.pause();
    }
    await this.sender.close();
  }

  /** A repeat for the same offset changes nothing. */
  async stuck(run: NoticeRun, { error, offset }: StuckRun): Promise<void> {
    const { chunk } = this.at === undefined ? { chunk: 0 } : positionIn(this.at.cursor);
    for (const to of this.receiversOf('stuck', run)) {
      const notice = this.noticeFor(to, run, { type: 'stuck', at: this.now(), mark: `stuck ${offset}` });
      const key = await this.outbox.addOnce({ ...notice, error }, `${placeOf(chunk, 0)}.stuck.${offset}`);
      if (key !== undefined) this.sender.begin([key]);
    }
  }

  private async follow(): Promise<void> {
    this.at = (await this.outbox.position()) ?? (await this.start());
    this.sender.begin(await this.outbox.pending());
    for (let { cursor, since } = this.at; !this.signal.aborted;) {
      const page = await this.pageAfter(cursor);
      const keys: string[] = [];
      for (const event of page.events) if (event.event.time >= since) keys.push(...(await this.take(event)));
      if (page.next !== cursor) await this.outbox.moveTo((this.at = { cursor: page.next, since }));
      cursor = page.next;
      this.sender.begin(keys);
      if (!page.more) await this.pause();
    }
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

  /** Events of the time before the first receiver have no notices. */
  private async start(): Promise<OutboxPosition> {
    const at = { cursor: cursorOf({ chunk: await this.log.head(), index: 0 }), since: this.now() - skewMs };
    await this.outbox.moveTo(at);
    return at;
  }

  private async take({ cursor, event, ...run }: FeedEvent): Promise<readonly string[]> {
    const type = typeOf(event);
    if (type === undefined) return [];
    const { chunk, index } = positionIn(cursor);
    const keys: string[] = [];
    for (const to of this.receiversOf(type, run)) {
      const notice = this.noticeFor(to, run, { type, at: event.time, mark: String(event.offset) });
      keys.push(await this.outbox.add({ ...notice, event }, placeOf(chunk, index)));
    }
    return keys;
  }

  private receiversOf(type: NoticeType, run: NoticeRun): ReadonlySet<string> {
    return new Set(this.settings.receivers.filter((one) => isFor(one, type, run)).map(({ to }) => to));
  }

  private noticeFor(to: string, run: NoticeRun, { type, at, mark }: Pick<Notice, 'type' | 'at'> & { readonly mark: string }): Notice {
    const id = `msg_${hashOf(JSON.stringify([this.log.tenant, run.run, mark, to])).slice(0, 32)}`;
    return { id, to, type, run, at, since: this.now(), attempts: 0 };
  }

  private pause(): Promise<void> {
    return pauseOf(this.settings)(lookMs, this.signal);
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

function placeOf(chunk: number, index: number): string {
  return `${String(chunk).padStart(12, '0')}.${String(index).padStart(6, '0')}`;
}
