import { useEffect } from 'preact/hooks';
import type { ReadonlySignal } from '@preact/signals';
import { signal } from '@preact/signals';
import { codeOf } from '../../contract/errors';

const everyMs = 1_500;
const longestPauseMs = 8_000;

/** What a poll knows: undefined until the first answer. */
export interface Polled<Value> {
  readonly value: ReadonlySignal<Value | undefined>;
  /** Why the last question failed. The last value stays. */
  readonly error: ReadonlySignal<unknown>;
  /** Asks now. What was asked before is not taken any more. */
  refresh(): Promise<void>;
}

class Poll<Value> implements Polled<Value> {
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
      // The same answer is no change: nothing is drawn again.
      const text = JSON.stringify(value);
      if (text !== this.text) [this.text, this.value.value] = [text, value];
    } catch (error) {
      if (question !== this.question) return;
      if (codeOf(error) === 'service-unreachable') this.failures++;
      this.error.value = error;
    }
    this.plan();
  }

  /** Nobody looks at a hidden page: it asks again when it is shown. */
  private plan(): void {
    if (!this.isOpen || document.visibilityState !== 'visible') return;
    // A long answer is asked for less often.
    const pause = this.failures === 0 ? Math.max(this.pauseMs, 4 * this.tookMs) : Math.min(longestPauseMs, 500 * 2 ** this.failures);
    this.timer = setTimeout(() => void this.refresh(), pause);
  }
}

const polls = new Map<string, Poll<unknown>>();

/** The poll of a key, as long as the component is shown. Equal ones are one. */
export function usePoll<Value>(key: string, ask: () => Promise<Value>, pauseMs = everyMs): Polled<Value> {
  const poll = pollAt(key, ask, pauseMs);
  useEffect(() => {
    poll.open();
    return () => {
      poll.close();
      if (!poll.isOpen && polls.get(key) === poll) polls.delete(key);
    };
  }, [poll]);
  return poll;
}

function pollAt<Value>(key: string, ask: () => Promise<Value>, pauseMs: number): Poll<Value> {
  const known = polls.get(key);
  if (known !== undefined) return known as Poll<Value>;
  const made = new Poll(ask, pauseMs);
  polls.set(key, made);
  return made;
}

/** Asks everything that is shown again, after a change that was made here. */
export function refreshPolls(): void {
  for (const poll of polls.values()) if (poll.isOpen) void poll.refresh();
}

document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') refreshPolls();
});
addEventListener('online', refreshPolls);
