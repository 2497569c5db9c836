import { setTimeout as delay } from 'node:timers/promises';
import { codeOf, messageOf } from '../../contract/errors';
import type { Logger } from '../../host/logger';
import { keptTimeout } from '../kept-timeout';
import { isFinal } from '../outgoing/send-signed';
import type { Notice, NoticeOutbox } from './outbox';

export interface SenderSettings {
  readonly logger: Pick<Logger, 'warn'>;
  readonly send: (tenant: string, notice: Notice, signal: AbortSignal) => Promise<void>;
  readonly now?: () => number;
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

const patienceMs = 86_400_000;
const longestPauseMs = 600_000;
const mostAtOnce = 10;
const longestTryMs = 30_000;
const failuresOfAbsent = 5;

/** Sends the notices of an outbox: of one run to one receiver in order, of several runs at once. */
export class Sender {
  /** Keys of one run and receiver, the oldest first. */
  private readonly chains = new Map<string, string[]>();
  private readonly places = new Map<string, Places>();
  private readonly sending = new Set<Promise<void>>();

  constructor(
    private readonly settings: SenderSettings,
    private readonly outbox: NoticeOutbox,
    private readonly signal: AbortSignal,
  ) {}

  begin(keys: readonly string[]): void {
    for (const key of keys) {
      const name = key.slice(0, key.lastIndexOf('/'));
      const chain = this.chains.get(name);
      if (chain?.includes(key) === true) continue;
      if (chain !== undefined) chain.push(key);
      else {
        this.chains.set(name, [key]);
        const sending = this.sendAll(name).finally(() => this.sending.delete(sending));
        this.sending.add(sending);
      }
    }
  }

  /** After the signal. */
  async close(): Promise<void> {
    await Promise.all(this.sending);
  }

  private async sendAll(name: string): Promise<void> {
    const chain = this.chains.get(name) ?? [];
    const receiver = name.slice(0, name.lastIndexOf('/'));
    const places = this.places.get(receiver) ?? new Places();
    this.places.set(receiver, places);
    for (let [key] = chain; key !== undefined; [key] = chain) {
      for (let tries = 0; !(await places.use(() => this.attempt(key, places))); tries += 1) {
        const ending = AbortSignal.any([this.signal, places.recovery]);
        await pauseOf(this.settings)(Math.min(1000 * 2 ** tries, longestPauseMs), ending);
        if (this.signal.aborted) return;
      }
      chain.shift();
    }
    this.chains.delete(name);
  }

  /** Returns whether the outbox no longer has the notice as pending. */
  private async attempt(key: string, places: Places): Promise<boolean> {
    const { settings, outbox, signal } = this;
    try {
      const notice = await outbox.read(key);
      if (notice === undefined) return true;
      const problem = await this.send(notice);
      if (signal.aborted) return false;
      if (problem === undefined) {
        places.recover();
        await outbox.remove(key, notice);
        return true;
      }
      places.failures += 1;
      if (places.failures === 1) settings.logger.warn(`${notice.to} takes no notice: ${messageOf(problem)}`);
      const tried: Notice = {
        ...notice,
        attempts: notice.attempts + 1,
        problem: { code: codeOf(problem) ?? 'notice-failed', message: messageOf(problem) },
      };
      const isOver = isFinal(problem) || (settings.now ?? Date.now)() >= notice.since + patienceMs;
      if (isOver) await outbox.giveUp(key, tried);
      else await outbox.keep(key, tried);
      return isOver;
    } catch (error) {
      if (!signal.aborted) settings.logger.warn(`A notice waits for the store: ${messageOf(error)}`);
      return false;
    }
  }

  /** Ends in time, also if `people` of the configuration never does. */
  private send(notice: Notice): Promise<unknown> {
    const { settings, outbox } = this;
    const ending = AbortSignal.any([this.signal, keptTimeout(longestTryMs)]);
    return new Promise((resolve) => {
      ending.addEventListener('abort', () => resolve(ending.reason), { once: true });
      settings.send(outbox.tenant, notice, ending).then(() => resolve(undefined), resolve);
    });
  }
}

class Places {
  /** Since the receiver last took a notice. */
  failures = 0;
  private recovered = new AbortController();
  private free = mostAtOnce;
  private readonly waiting: (() => void)[] = [];

  /** Aborted when a receiver that was away takes a notice again. */
  get recovery(): AbortSignal {
    return this.recovered.signal;
  }

  /** A refused notice alone is no sign that the receiver was away. */
  recover(): void {
    if (this.failures >= failuresOfAbsent) {
      this.recovered.abort();
      this.recovered = new AbortController();
    }
    this.failures = 0;
  }

  async use<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.free += 1;
      else next();
    }
  }
}

export function pauseOf({ pause }: Pick<SenderSettings, 'pause'>): NonNullable<SenderSettings['pause']> {
  return pause ?? ((ms, signal) => delay(ms, undefined, { signal, ref: false }).catch(() => undefined));
}
