import { performance } from 'node:perf_hooks';

/** Milliseconds since 1970 with fractions, the same in all processes of the machine. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}
