/** In milliseconds since 1970. */
export function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** At most now. Default: now. */
export function givenTime(at: number | undefined, now: number): number {
  return at === undefined ? now : Math.min(at, now);
}
