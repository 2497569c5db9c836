import type { Author } from './access';
import type { RunStatus } from './events';
import type { Interrupt } from './interrupts';
import type { Failure, Json, ToolCall } from './messages/messages';
import type { Timestamp } from './timestamp';

export interface BatchLine {
  /** The number of the line in its file, from 1. */
  readonly line: number;
  readonly input: Json;
  readonly id?: string;
  readonly tags?: readonly string[];
  readonly values?: Readonly<Record<string, Json>>;
}

export interface BatchOptions {
  readonly agent: string;
  /** How many runs are at work at once. Default: 20. */
  readonly concurrency?: number;
  /** The most starts in a minute. Default: no limit. */
  readonly perMinute?: number;
  readonly tags?: readonly string[];
}

export const defaultConcurrency = 20;

export interface KeptLines {
  readonly lines: number;
  /** Of agent and lines. */
  readonly hash: string;
  /** The beginning of the keys of the lines in the store, unique to the upload. */
  readonly store: string;
  readonly chunks: number;
}

/** In the memo of the workflow. Never changes. */
export interface BatchHead extends KeptLines, BatchOptions {
  readonly id: string;
  readonly concurrency: number;
  readonly tags: readonly string[];
}

export interface BatchInput extends BatchHead {
  readonly tenant: string;
  readonly author: Author;
  readonly queue: string;
  /** Gives the lines. The workflow has the id. */
  readonly schedule?: string;
}

export interface BatchEnds {
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
}

/** Details of heartbeats. A later attempt of the activity goes on here. */
export interface BatchProgress {
  /** All lines before this line have a run, or were refused. */
  readonly next: number;
  readonly started: number;
  readonly refused: number;
  /** Lines whose runs hold a place, at most `concurrency`. */
  readonly open: readonly number[];
  /** The runs of all lines before this line, and of all chunks before this chunk, have ended. */
  readonly looked: number;
  readonly chunk: number;
  readonly ended: BatchEnds;
}

export const batchBegin: BatchProgress = {
  next: 1,
  started: 0,
  refused: 0,
  open: [],
  looked: 1,
  chunk: 0,
  ended: { completed: 0, failed: 0, cancelled: 0 },
};

export interface BatchStop {
  /** Also cancels open runs, in this name. */
  readonly cancels?: Author;
}

export interface BatchEnd {
  readonly progress: BatchProgress;
  readonly isStopped: boolean;
  readonly error?: Failure;
}

export interface BatchActivities {
  keepLines(batch: BatchInput): Promise<KeptLines>;
  startLines(batch: BatchInput): Promise<BatchProgress>;
  /** Fails while a run has not ended, and the server tries again. */
  countEnds(batch: BatchInput, begun: BatchProgress): Promise<BatchProgress>;
  cancelRuns(batch: BatchInput, author: Author, progress: BatchProgress): Promise<void>;
}

export const batchWaits = 'batch-waits';

export function batchQueueOf(taskQueue: string): string {
  return `${taskQueue}-batch`;
}

export function batchTag(id: string): string {
  return `batch=${id}`;
}

export function runIdOfLine(batch: string, { line, id }: Pick<BatchLine, 'line' | 'id'>): string {
  return id ?? `${batch}-${String(line).padStart(6, '0')}`;
}

export interface StartedBatch {
  readonly id: string;
  /** False: the batch with this id and these lines was there. */
  readonly isNew: boolean;
  readonly agent: string;
  readonly lines: number;
}

export interface ListedBatch extends BatchOptions {
  readonly id: string;
  readonly lines: number;
  readonly concurrency: number;
  readonly tags: readonly string[];
  /** `completed`: the run of every line has ended. `failed`: a schedule got no lines. */
  readonly status: 'running' | 'completed' | 'stopped' | 'failed';
  readonly startedAt: Timestamp;
  readonly closedAt?: Timestamp;
  readonly startedBy?: string;
  readonly error?: Failure;
}

export interface ShownBatch extends ListedBatch {
  readonly started: number;
  /** Why no service goes on. A service tries again. */
  readonly problem?: Failure;
  /** Runs by status, and lines that no run could be started for. */
  readonly counts: BatchEnds & { readonly running: number; readonly waiting: number; readonly refused: number };
}

export interface BatchPage {
  readonly batches: readonly ListedBatch[];
  readonly next?: string;
}

/** `pending`: not started. `refused`: the run could not be started. `unreadable`: the run cannot be read. The error says why. */
export const batchLineStatuses = [
  'pending',
  'running',
  'waiting',
  'stuck',
  'completed',
  'failed',
  'cancelled',
  'refused',
  'unreadable',
] as const;

export interface BatchResult {
  readonly line: number;
  readonly id: string;
  readonly status: RunStatus | 'pending' | 'refused' | 'unreadable';
  readonly output?: unknown;
  /** The run ended with calls that no worker makes. */
  readonly toolCalls?: readonly ToolCall[];
  readonly interrupts?: readonly Interrupt[];
  readonly error?: Failure;
}
