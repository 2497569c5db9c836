/** Says of a value that anybody can have sent whether it is a time, in milliseconds since 1970. */
export function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** When something counts that says when a person gave it: not later than now. Without a word of that, now. */
export function givenTime(at: number | undefined, now: number): number {
  return at === undefined ? now : Math.min(at, now);
}
