import type { Failure } from './messages/messages';
import type { Timestamp } from './timestamp';

/** What became of a delivery: the id of its run, ignored on purpose, or the id under which the delivery is kept. */
export type DeliveryOutcome = { readonly run: string } | { readonly ignored: true } | { readonly kept: string };

export interface ListedTrigger {
  readonly name: string;
  /** The sender: `standard`, `github`, `stripe`, `slack`, or `signature` for a form of the configuration. */
  readonly from: string;
}

/** A delivery that started no run: `start` of the trigger failed, its run did not fit, or the server was away. */
export interface KeptDelivery {
  readonly id: string;
  /** When the delivery came. */
  readonly at: Timestamp;
  /** Absent: the start broke off, and a replay goes on. */
  readonly problem?: Failure;
  /** The first 2,000 characters of the body. */
  readonly payload: string;
}

/** Kept deliveries, newest first. */
export interface KeptDeliveries {
  readonly deliveries: readonly KeptDelivery[];
  /** Whether older deliveries are kept, too. */
  readonly more: boolean;
}
