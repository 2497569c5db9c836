import type { RunEvent } from './events';

/** An event of any run of the tenant. */
export interface FeedEvent {
  /** Reading goes on behind this event with `since`. */
  readonly cursor: string;
  readonly run: string;
  readonly agent: string;
  readonly tags: readonly string[];
  readonly startedBy?: string;
  readonly event: RunEvent;
}

export interface FeedPage {
  readonly events: readonly FeedEvent[];
  /** The cursor for the next page, also where the page is empty. */
  readonly next: string;
  /** Whether the next page need not wait for new events. */
  readonly more: boolean;
}
