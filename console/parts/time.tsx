import { now } from '../data/clock';

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** Such as "3 d 4 h" or "12 s". */
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

/** Such as "3 d". */
function shortDurationText(milliseconds: number): string {
  const [name, size] = units.find(([, unit]) => Math.abs(milliseconds) >= unit) ?? units[3];
  return `${Math.floor(Math.abs(milliseconds) / size)} ${name}`;
}

/** Such as "3 d ago" or "in 12 s". */
function relativeText(at: number, from: number): string {
  const away = at - from;
  if (Math.abs(away) < 1_000) return 'now';
  return away < 0 ? `${durationText(away)} ago` : `in ${durationText(away)}`;
}

// The constructor takes longer than the drawing of a row.
const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

export function absoluteText(at: number): string {
  return absolute.format(at);
}

/** `isLength`: only the distance, in the largest unit. */
export function Time({ at, isLength = false }: { readonly at: number | string; readonly isLength?: boolean }) {
  const time = typeof at === 'number' ? at : Date.parse(at);
  if (!Number.isFinite(time)) return <span>{String(at)}</span>;
  return (
    <time dateTime={new Date(time).toISOString()} title={absoluteText(time)}>
      {isLength ? shortDurationText(now.value - time) : relativeText(time, now.value)}
    </time>
  );
}
