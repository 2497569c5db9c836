import type { BatchOptions } from './batches';
import type { MaybePromise } from './maybe-promise';
import type { Json } from './messages/messages';
import type { Timestamp } from './timestamp';

/** What happens while an earlier run is at work. */
export const overlaps = ['skip', 'buffer-one', 'buffer-all', 'cancel-other', 'terminate-other', 'allow-all'] as const;
export type Overlap = (typeof overlaps)[number];

export interface ScheduledStart {
  readonly agent: string;
  readonly input: Json;
  readonly tags?: readonly string[];
  readonly values?: Readonly<Record<string, Json>>;
  readonly model?: string;
  /** Of each run, such as '2h'. */
  readonly deadline?: string;
}

/** Either `cron` or `every`. */
export interface ScheduleTimes {
  /** Minute, hour, day of the month, month and day of the week, as in '0 2 * * MON-FRI'. */
  readonly cron?: string;
  /** Whole seconds, at least '10s'. Counts from 1970, not from the last run. */
  readonly every?: string;
  /** The time zone of `cron`, such as 'Europe/Berlin'. Default: UTC. */
  readonly zone?: string;
  /** Default: skip. */
  readonly overlap?: Overlap;
  /** How long the Temporal server may be down without a loss of times. Default: 1h. */
  readonly catchUp?: string;
  /** Each run starts up to this much later. Default: 0. */
  readonly jitter?: string;
  readonly paused?: boolean;
  readonly note?: string;
}

export interface ScheduleSpec extends ScheduleTimes {
  readonly start: ScheduledStart;
  readonly batch?: never;
}

/** Gives lines as `POST /batches` takes. */
export type LinesOfSchedule = () => MaybePromise<Iterable<unknown> | AsyncIterable<unknown>>;

/** Only the configuration can have a batch, because functions do not travel. */
export interface BatchSchedule extends ScheduleTimes {
  readonly batch: BatchOptions & { readonly lines: LinesOfSchedule };
  readonly start?: never;
}

export type ConfiguredSchedule = ScheduleSpec | BatchSchedule;

export interface ListedSchedule extends Omit<ScheduleTimes, 'paused'> {
  readonly name: string;
  readonly agent: string;
  readonly overlap: Overlap;
  readonly catchUp: string;
  /** `config`: from the configuration file. `api`: set by a client. */
  readonly source: 'config' | 'api';
  readonly setBy?: string;
  readonly paused: boolean;
  /** The next five times. None: the schedule never starts a run. */
  readonly next: readonly Timestamp[];
  /** The last ten runs, newest first. With `batch`, these are batches. */
  readonly runs: readonly ScheduledRun[];
  /** Times without a run, because an earlier run was at work. */
  readonly skipped: number;
  /** Times without a run, because the Temporal server was down for longer than `catchUp`. */
  readonly missed: number;
  /** Each time starts a batch instead of a run. */
  readonly batch?: BatchOptions;
}

export interface ScheduledRun {
  readonly id: string;
  readonly at: Timestamp;
}

export interface ShownSchedule extends ListedSchedule {
  readonly start?: ScheduledStart;
}
