import { Bucket, rateOf } from '../../activities/limits/bucket';
import type { Principal } from '../../contract/access';
import { HoldfastError } from '../../contract/errors';

/** A forgotten caller begins with a full bucket. */
const mostBuckets = 10_000;

export class RequestRate {
  private readonly buckets = new Map<string, Bucket>();

  constructor(
    private readonly perMinute: number,
    private readonly now: () => number = Date.now,
  ) {}

  /** Throws 'requests-limited', with the seconds to wait in `details.retryAfter`. */
  take({ tenant, user, proof }: Principal): void {
    const caller = proof.startsWith('key:') ? proof : `${tenant}/${user}`;
    const bucket = this.buckets.get(caller) ?? new Bucket(rateOf(this.perMinute), this.now);
    // The bucket moves to the end of the map, so the first one is the longest unused.
    this.buckets.delete(caller);
    this.buckets.set(caller, bucket);
    const [longestUnused] = this.buckets.keys();
    if (this.buckets.size > mostBuckets && longestUnused !== undefined) this.buckets.delete(longestUnused);
    const waitMs = bucket.waitFor(1);
    if (waitMs === 0) return bucket.take(1);
    const retryAfter = Math.ceil(waitMs / 1000);
    throw new HoldfastError(
      'requests-limited',
      `This caller may send ${this.perMinute} requests a minute, a twelfth of them at once. Try again in ${retryAfter} s.`,
      {
        details: { retryAfter },
      },
    );
  }
}
