/**
 * Returns the most likely value first: the whole text, else fenced blocks from the last, else the text between the outermost braces and
 * brackets.
 */
export function jsonValuesIn(text: string): readonly unknown[] {
  const whole = parsed(text);
  if (whole.length > 0) return whole;
  const fenced = [...text.matchAll(/```(?:json)?[ \t]*\r?\n([\s\S]*?)```/gi)].flatMap(([, block = '']) => parsed(block));
  if (fenced.length > 0) return fenced.reverse();
  const values: unknown[] = [];
  let end = 0;
  for (const range of [between(text, '{', '}'), between(text, '[', ']')].sort((one, other) => one.start - other.start)) {
    const found = range.start < end ? [] : parsed(text.slice(range.start, range.end));
    if (found.length > 0) end = range.end;
    values.push(...found);
  }
  return values;
}

function parsed(text: string): readonly unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    return [];
  }
}

function between(text: string, opening: string, closing: string): { readonly start: number; readonly end: number } {
  const start = text.indexOf(opening);
  return start === -1 ? { start: text.length, end: text.length } : { start, end: text.lastIndexOf(closing) + 1 };
}
