import type { ErrorCode } from './errors';
import { HoldfastError } from './errors';

const units: Readonly<Record<string, number>> = {
  ms: 1,
  millisecond: 1,
  s: 1000,
  sec: 1000,
  second: 1000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
  w: 604_800_000,
  week: 604_800_000,
};

/** Ten years. */
const longest = 3653 * 86_400_000;

/** Reads '30s', '1.5h' or '3 days', above 0 and up to ten years. */
export function parseDuration(text: string): number | undefined {
  const milliseconds = lengthOf(text);
  return milliseconds !== undefined && milliseconds > 0 && milliseconds <= longest ? milliseconds : undefined;
}

/** Returns the end of a sentence. */
export function durationProblem(text: string): string | undefined {
  const milliseconds = lengthOf(text);
  if (milliseconds === undefined) return 'is no duration; write for example "30s", "2h" or "3d"';
  if (milliseconds <= 0) return 'is no duration: the shortest is "1ms"';
  return milliseconds > longest ? 'is no duration that is taken: the longest is "3653d", ten years' : undefined;
}

function lengthOf(text: string): number | undefined {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*$/i.exec(text);
  if (match === null) return undefined;
  const name = (match[2] ?? '').toLowerCase();
  const key = [name, name.replace(/s$/, '')].find((candidate) => Object.hasOwn(units, candidate));
  if (key === undefined) return undefined;
  return Math.round(Number(match[1]) * (units[key] ?? 0));
}

export function millisecondsOf(text: string, code: ErrorCode): number {
  const milliseconds = parseDuration(text);
  if (milliseconds === undefined) throw new HoldfastError(code, `"${text}" ${durationProblem(text) ?? ''}.`);
  return milliseconds;
}
