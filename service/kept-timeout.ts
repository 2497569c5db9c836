/** For `AbortSignal.any`: Node collects a timeout without a listener. */
export function keptTimeout(milliseconds: number): AbortSignal {
  const late = AbortSignal.timeout(milliseconds);
  late.addEventListener('abort', () => undefined);
  return late;
}
