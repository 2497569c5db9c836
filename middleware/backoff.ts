import { parseDuration } from '../contract/duration';
import type { Form } from '../contract/check';
import { duration, form, isFilled, isFunction, isRecord, numberIn, refusing, shape, whole, worded } from '../contract/check';

export interface Backoff {
  /** Before the first repetition. Default: '1s'. */
  readonly first?: string;
  /** Multiplies each wait. Default: 2. */
  readonly factor?: number;
  /** The longest wait. Default: '1m', or `first` if longer. */
  readonly most?: string;
  /** Random share of a wait on top, against simultaneous returns. Default: 0.5. */
  readonly jitter?: number;
}

const defaultMost = 60_000;

export const attemptsForm = worded(whole(1, 100), 'a whole number from 1 to 100, the first call included');

export const backoffForm = shape({ first: duration, factor: numberIn(1, 100), most: duration, jitter: numberIn(0, 1) });

export function answerOr(word: string, of: string): Form {
  const isAnswer = (value: unknown): boolean =>
    isRecord(value) && Object.keys(value).length === 1 && (isFilled(value['answer']) || isFunction(value['answer']));
  return form((value) => value === word || isAnswer(value), `"${word}" or { answer: a string that is not blank, or a function of ${of} }`);
}

/** Milliseconds before the k-th repetition, from 1. */
export function waitsOf(middleware: string, backoff: Backoff): (k: number, random: () => number) => number {
  const { factor = 2, jitter = 0.5 } = backoff;
  const first = parseDuration(backoff.first ?? '1s') ?? 0;
  const most = backoff.most === undefined ? Math.max(defaultMost, first) : (parseDuration(backoff.most) ?? 0);
  // A short `most` alone is valid: all waits are as long.
  if (backoff.first !== undefined && first > most)
    refusing(`${middleware}.backoff`)(
      `first is "${backoff.first}", longer than most, which is "${backoff.most}": no wait would be that long. Write a longer most, or a shorter first.`,
    );
  return (k, random) => {
    const wait = Math.min(first * factor ** (k - 1), most);
    return Math.ceil(wait + (jitter === 0 ? 0 : wait * jitter * random()));
  };
}
