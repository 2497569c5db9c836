/** For `AbortSignal.any`: Node collects a timeout without a listener, and the combined signal never aborts. */
export function keptTimeout(milliseconds: number): AbortSignal {
  const late = AbortSignal.timeout(milliseconds);
  late.addEventListener('abort', () => undefined);
  return late;
}
