const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** "2 min ago", "in 3 days". */
export function relativeTime(time: number, now: number): string {
  const distance = Math.abs(time - now);
  if (distance < second) return 'now';
  return time > now ? `in ${roughly(distance)}` : `${roughly(distance)} ago`;
}

export function roughly(milliseconds: number): string {
  if (milliseconds < minute) return `${Math.floor(milliseconds / second)} s`;
  if (milliseconds < hour) return `${Math.floor(milliseconds / minute)} min`;
  if (milliseconds < 2 * day) return `${Math.floor(milliseconds / hour)} h`;
  return `${Math.floor(milliseconds / day)} days`;
}

/** The two largest units: "350 ms", "2.4 s", "3 min 12 s", "2 h 5 min", "3 d 4 h". */
export function lengthText(milliseconds: number): string {
  const whole = Math.max(0, Math.round(milliseconds));
  if (whole < second) return `${whole} ms`;
  if (whole < minute - 50) return `${Number((whole / second).toFixed(1))} s`;
  if (whole < hour) return two(whole, [minute, 'min'], [second, 's']);
  if (whole < day) return two(whole, [hour, 'h'], [minute, 'min']);
  return two(whole, [day, 'd'], [hour, 'h']);
}

function two(whole: number, [large, largeName]: readonly [number, string], [small, smallName]: readonly [number, string]): string {
  const rounded = Math.round(whole / small) * small;
  const rest = Math.round((rounded % large) / small);
  return `${Math.floor(rounded / large)} ${largeName}${rest === 0 ? '' : ` ${rest} ${smallName}`}`;
}

export function timeText(time: number | string): string {
  return `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
