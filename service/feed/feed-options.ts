import { z } from 'zod';
import { duration } from '../../contract/check';
import { parseDuration } from '../../contract/duration';

export interface FeedOptions {
  /** Default: 30d. */
  readonly keep?: string;
}

export const FeedOptionsSchema = z.strictObject({
  keep: z
    .string()
    .superRefine((text, context) => {
      const problem = duration.problem(text, 'feed.keep');
      if (problem !== undefined) context.addIssue({ code: 'custom', message: `is refused: ${problem}` });
    })
    .optional(),
}) as z.ZodType<FeedOptions>;

export function keepMsOf({ keep = '30d' }: FeedOptions): number {
  return parseDuration(keep) ?? 0;
}
