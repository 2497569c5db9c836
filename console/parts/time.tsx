import type { JSX } from 'preact';
import { now } from '../data/clock';

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** A length of time in its one or two largest units: "3 d 4 h", "12 s". */
export function durationText(milliseconds: number): string {
  const whole = Math.abs(milliseconds);
  if (whole < 1_000) return `${Math.round(whole)} ms`;
  const at = units.findIndex(([, size]) => whole >= size);
  const [name, size] = units[at] ?? units[3];
  const first = Math.floor(whole / size);
  const next = units[at + 1];
  const second = next === undefined ? 0 : Math.floor((whole - first * size) / next[1]);
  return next === undefined || second === 0 || first >= 10 ? `${first} ${name}` : `${first} ${name} ${second} ${next[0]}`;
}

/** A length of time in its largest unit: "3 d". */
export function shortDurationText(milliseconds: number): string {
  const [name, size] = units.find(([, unit]) => Math.abs(milliseconds) >= unit) ?? units[3];
  return `${Math.floor(Math.abs(milliseconds) / size)} ${name}`;
}

/** How long ago a time is, or in what time it comes. */
export function relativeText(at: number, from: number): string {
  const away = at - from;
  if (Math.abs(away) < 1_000) return 'now';
  return away < 0 ? `${durationText(away)} ago` : `in ${durationText(away)}`;
}

// To make one takes longer than to draw a row.
const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

export function absoluteText(at: number): string {
  return absolute.format(at);
}

/** A time as people say it, with the absolute one on hover. `isLength`: only how far away it is, in its largest unit. */
export function Time({ at, isLength = false }: { readonly at: number | string; readonly isLength?: boolean }): JSX.Element {
  const time = typeof at === 'number' ? at : Date.parse(at);
  if (!Number.isFinite(time)) return <span>{String(at)}</span>;
  return (
    <time dateTime={new Date(time).toISOString()} title={absoluteText(time)}>
      {isLength ? shortDurationText(now.value - time) : relativeText(time, now.value)}
    </time>
  );
}
