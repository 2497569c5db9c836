import { z } from 'zod';
import { duration } from '../../contract/check';
import { parseDuration } from '../../contract/duration';
import { formed } from '../formed';

export interface FeedOptions {
  /** Default: 30d. */
  readonly keep?: string;
}

export const FeedOptionsSchema = z.strictObject({ keep: formed<string>(duration, 'feed.keep').optional() }) as z.ZodType<FeedOptions>;

export function keepMsOf({ keep = '30d' }: FeedOptions): number {
  return parseDuration(keep) ?? 0;
}
