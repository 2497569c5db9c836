import { useEffect } from 'preact/hooks';
import { signal } from '@preact/signals';
import { codeOf } from '../../contract/errors';

const everyMs = 1_500;
const longestPauseMs = 8_000;

/** `value` stays when a later question fails. */
export interface Polled<Value> {
  readonly key: string;
  readonly value: Value | undefined;
  readonly error: unknown;
}

class Poll<Value> {
  readonly value = signal<Value | undefined>(undefined);
  readonly error = signal<unknown>(undefined);
  private readers = 0;
  private text: string | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private failures = 0;
  private question = 0;
  private tookMs = 0;

  constructor(
    private readonly ask: () => Promise<Value>,
    private readonly pauseMs: number,
  ) {}

  open(): void {
    this.readers++;
    if (this.readers === 1) void this.refresh();
  }

  close(): void {
    this.readers--;
    if (this.readers === 0) clearTimeout(this.timer);
  }

  get isOpen(): boolean {
    return this.readers > 0;
  }

  /** Ignores answers to earlier questions. */
  async refresh(): Promise<void> {
    clearTimeout(this.timer);
    const question = ++this.question;
    const startedAt = performance.now();
    try {
      const value = await this.ask();
      if (question !== this.question) return;
      this.failures = 0;
      this.tookMs = performance.now() - startedAt;
      this.error.value = undefined;
      // An equal answer must not draw the page again.
      const text = JSON.stringify(value);
      if (text !== this.text) [this.text, this.value.value] = [text, value];
    } catch (error) {
      if (question !== this.question) return;
      if (codeOf(error) === 'service-unreachable') this.failures++;
      this.error.value = error;
    }
    this.plan();
  }

  /** A hidden page asks nothing, and slow questions are asked less often. */
  private plan(): void {
    if (!this.isOpen || document.visibilityState !== 'visible') return;
    const pause = this.failures === 0 ? Math.max(this.pauseMs, 4 * this.tookMs) : Math.min(longestPauseMs, 500 * 2 ** this.failures);
    this.timer = setTimeout(() => void this.refresh(), pause);
  }
}

const polls = new Map<string, Poll<unknown>>();

/** Components with the same key share a poll. */
export function usePoll<Value>(key: string, ask: () => Promise<Value>, pauseMs = everyMs): Polled<Value> {
  const poll = (polls.get(key) as Poll<Value> | undefined) ?? new Poll(ask, pauseMs);
  polls.set(key, poll);
  useEffect(() => {
    poll.open();
    return () => {
      poll.close();
      if (!poll.isOpen && polls.get(key) === poll) polls.delete(key);
    };
  }, [poll]);
  return { key, value: poll.value.value, error: poll.error.value };
}

export function refreshPolls(): void {
  for (const poll of polls.values()) if (poll.isOpen) void poll.refresh();
}

document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') refreshPolls();
});
addEventListener('online', refreshPolls);
