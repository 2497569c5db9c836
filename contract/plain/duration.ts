const units: Record<string, number> = {
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

/** Milliseconds of a text such as '30s', '1.5h' or '3 days'; undefined when it is none. */
export function parseDuration(text: string): number | undefined {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*$/i.exec(text);
  if (match === null) return undefined;
  const name = (match[2] ?? '').toLowerCase();
  const unit = units[name] ?? units[name.replace(/s$/, '')];
  return unit === undefined ? undefined : Math.round(Number(match[1]) * unit);
}
