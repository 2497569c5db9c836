import type { RecordedFailure } from './errors';
import type { Turn } from './settle-order';

/** Numbered in the order of requests. A turn or `beside` marks effects that ran beside others. */
export type JournalEffect = { readonly n: number; readonly kind: string } & (
  | ({ readonly value?: unknown } & Partial<Turn>)
  | ({ readonly error: RecordedFailure } & Partial<Turn>)
  | { readonly open: true; readonly beside?: true }
);
