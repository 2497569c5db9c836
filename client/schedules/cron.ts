interface Part {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  /** Names of the numbers from `least`. */
  readonly names?: readonly string[];
}

const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const longestDays = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const parts: readonly Part[] = [
  { name: 'minute', least: 0, most: 59 },
  { name: 'hour', least: 0, most: 23 },
  { name: 'day of the month', least: 1, most: 31 },
  { name: 'month', least: 1, most: 12, names: months },
  { name: 'day of the week', least: 0, most: 7, names: ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] },
];

const words: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
};

/** Returns the end of a sentence. Temporal takes more than this, and reads some of that in another way than cron. */
export function cronProblem(text: string): string | undefined {
  const given = partsOf(text);
  if (given.length !== parts.length)
    return `has ${given.length} part${given.length === 1 ? '' : 's'} and needs 5: ${parts.map(({ name }) => name).join(', ')}${given.length > 5 ? '. Leave seconds and years out, because Temporal reads a sixth part as the year. `every` takes seconds' : ''}`;
  const values = parts.map((part, position) => valuesOf(given[position] ?? '', part));
  for (const [position, { name, least, most, names }] of parts.entries())
    if (values[position] === undefined)
      return `has the ${name} ${given[position]}. Write *, numbers from ${least} to ${most}${names === undefined ? '' : `, names such as ${names[1]}`}, ranges such as ${least + 1}-${least + 3}, and steps such as */2, with commas between them`;
  const [, , days = [], ofMonths = []] = values;
  const longest = Math.max(...ofMonths.map((month) => longestDays[month - 1] ?? 0));
  if (given[4]?.startsWith('*') === true && Math.min(...days) > longest) return `never comes: the month has at most ${longest} days`;
  return undefined;
}

/** In cron either day is enough if both are named. Temporal asks for both days together, so each day gets an expression. */
export function cronExpressions(text: string): string[] {
  const [minute, hour, day = '', month, weekday = ''] = partsOf(text);
  if (day.startsWith('*') || weekday.startsWith('*')) return [partsOf(text).join(' ')];
  return [
    [minute, hour, day, month, '*'],
    [minute, hour, '*', month, weekday],
  ].map((one) => one.join(' '));
}

function partsOf(text: string): readonly string[] {
  return (words[text.trim().toLowerCase()] ?? text).trim().split(/\s+/);
}

function valuesOf(text: string, { least, most, names = [] }: Part): readonly number[] | undefined {
  const values: number[] = [];
  const numberOf = (given: string): number => {
    const named = names.indexOf(given.toUpperCase());
    return named >= 0 ? named + least : /^\d{1,2}$/.test(given) ? Number(given) : NaN;
  };
  for (const item of text.split(',')) {
    const [, all, from, to, by] = /^(?:(\*)|(\w+)(?:-(\w+))?)(?:\/(\d{1,2}))?$/.exec(item) ?? [];
    const first = all === undefined ? numberOf(from ?? '') : least;
    const last = all === undefined ? numberOf(to ?? from ?? '') : most;
    const step = Number(by ?? 1);
    // Some programs read a step without a range as a range to the end.
    const isStrange = by !== undefined && all === undefined && to === undefined;
    if (isStrange || !(first >= least && last <= most && first <= last && step > 0)) return undefined;
    for (let value = first; value <= last; value += step) values.push(value);
  }
  return values;
}
