import { parseDuration } from '../contract/duration';
import type { Form } from './checked-options';
import { checkedOptions, isText, optional, refuseFor } from './checked-options';

/** How long to wait before calls that are made again. */
export interface Backoff {
  /** Before the first one. Default '1s'. */
  readonly first?: string;
  /** What each following wait is multiplied by, at least 1. Default 2. */
  readonly factor?: number;
  /** The longest wait. Default '1m', or `first` where that is longer. */
  readonly most?: string;
  /** Up to which part of itself a wait is longer, by chance, so that runs do not all come back at once. Default 0.5. */
  readonly jitter?: number;
}

const defaultMost = 60_000;
const duration: Form = [optional((value) => isText(value) && parseDuration(value) !== undefined), 'a duration, for example "2s"'];
const isNumber = (least: number, most: number): ((value: unknown) => boolean) =>
  optional((value) => typeof value === 'number' && value >= least && value <= most);

/** Milliseconds before the k-th repetition, from 1. */
export function waitsOf(middleware: string, backoff: Backoff): (k: number, random: () => number) => number {
  checkedOptions(`${middleware}, backoff`, backoff, {
    first: duration,
    factor: [isNumber(1, 100), 'a number from 1 to 100'],
    most: duration,
    jitter: [isNumber(0, 1), 'a number from 0 to 1'],
  });
  const { factor = 2, jitter = 0.5 } = backoff;
  const first = parseDuration(backoff.first ?? '1s') ?? 0;
  const most = backoff.most === undefined ? Math.max(defaultMost, first) : (parseDuration(backoff.most) ?? 0);
  // A short `most` alone is no mistake: every wait is that one then.
  if (backoff.first !== undefined && first > most)
    refuseFor(`${middleware}, backoff`)(
      `first is "${backoff.first}", longer than most, which is "${backoff.most}": no wait would be that long. Write a longer most, or a shorter first.`,
    );
  return (k, random) => {
    const wait = Math.min(first * factor ** (k - 1), most);
    return Math.ceil(wait + (jitter === 0 ? 0 : wait * jitter * random()));
  };
}
