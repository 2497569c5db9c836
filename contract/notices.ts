import type { Failure } from './messages/messages';
import type { Timestamp } from './timestamp';

/** What the service tells receivers: a run waits, nobody has answered yet, more people may answer, a run ended, or a run is stuck. */
export const noticeTypes = ['waiting', 'remind', 'escalate', 'completed', 'failed', 'stuck'] as const;
export type NoticeType = (typeof noticeTypes)[number];

/** A notice that its receiver has not taken. */
export interface ListedNotice {
  /** The header `webhook-id` of all attempts. */
  readonly id: string;
  readonly to: string;
  readonly type: NoticeType;
  readonly run: string;
  readonly agent: string;
  readonly at: Timestamp;
  /** `undelivered`: the service has given up, and sends the notice again only if asked. */
  readonly state: 'pending' | 'undelivered';
  readonly attempts: number;
  /** Why the last attempt failed. */
  readonly problem?: Failure;
}

/** Undelivered notices first. */
export interface ListedNotices {
  readonly notices: readonly ListedNotice[];
  /** Whether more notices fit. */
  readonly more: boolean;
}
