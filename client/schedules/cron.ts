interface Part {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  /** Names of the numbers from `least`. */
  readonly names?: readonly string[];
}

const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];

const parts: readonly Part[] = [
  { name: 'minute', least: 0, most: 59 },
  { name: 'hour', least: 0, most: 23 },
  { name: 'day of the month', least: 1, most: 31 },
  { name: 'month', least: 1, most: 12, names: months },
  { name: 'day of the week', least: 0, most: 7, names: ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] },
];

/** Returns the end of a sentence. Temporal takes more than this, and reads some of that in another way than cron. */
export function cronProblem(text: string): string | undefined {
  const given = partsOf(text);
  if (given.length !== parts.length)
    return `has ${given.length} part${given.length === 1 ? '' : 's'} and needs 5: ${parts.map(({ name }) => name).join(', ')}${given.length > 5 ? '. Leave seconds and years out, because Temporal reads a sixth part as the year. `every` takes seconds' : ''}`;
  for (const [position, part] of parts.entries()) {
    const { name, least, most, names } = part;
    if (!fits(given[position] ?? '', part))
      return `has the ${name} ${given[position]}. Write *, numbers from ${least} to ${most}${names === undefined ? '' : `, names such as ${names[1]}`}, ranges such as ${least + 1}-${least + 3}, and steps such as */2, with commas between them`;
  }
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
  return text.trim().split(/\s+/);
}

function fits(text: string, { least, most, names = [] }: Part): boolean {
  const numberOf = (given: string): number => {
    const named = names.indexOf(given.toUpperCase());
    return named >= 0 ? named + least : /^\d{1,2}$/.test(given) ? Number(given) : NaN;
  };
  return text.split(',').every((item) => {
    const [, all, from = '', to = from, by = '1'] = /^(?:(\*)|(\w+)(?:-(\w+))?)(?:\/(\d{1,2}))?$/.exec(item) ?? [];
    const [first, last] = all === undefined ? [numberOf(from), numberOf(to)] : [least, most];
    // Some programs read a step without a range as a range to the end.
    const isStrange = item.includes('/') && all === undefined && !item.includes('-');
    return !isStrange && first >= least && first <= last && last <= most && Number(by) > 0;
  });
}
