export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Found<Rule> extends Span {
  readonly rule: Rule;
}

/** In order, without overlaps. Of overlapping spans the first and longest covers the others. */
export function withoutOverlap<Rule>(found: readonly Found<Rule>[]): readonly Found<Rule>[] {
  const ordered = [...found].sort((one, other) => one.start - other.start || other.end - one.end);
  const apart: Found<Rule>[] = [];
  for (const span of ordered) {
    const last = apart.at(-1);
    if (last === undefined || span.start >= last.end) apart.push(span);
    else if (span.end > last.end) apart[apart.length - 1] = { ...last, end: span.end };
  }
  return apart;
}
