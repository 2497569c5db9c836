/** Upper bounds of bench results, by path in the bench's line. */
const bounds: readonly (readonly [bench: string, path: string, most: number])[] = [
  ['engine', 'single.ratio', 1.1],
  ['engine', 'fifty.ratio', 0.95],
  ['resume', 'ratio', 1.3],
  ['cold', 'killToEndMs', 4000],
  ['cold', 'doubled', 0],
];

/** Returns the violated bounds, if any. */
export function withinBounds(output: string): string | undefined {
  const lines = new Map<string, unknown>();
  for (const line of output.split('\n')) {
    if (!line.startsWith('{"bench":')) continue;
    const result = JSON.parse(line) as { readonly bench: string };
    lines.set(result.bench, result);
  }
  const problems = bounds.flatMap(([bench, path, most]) => {
    const value = path.split('.').reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], lines.get(bench));
    if (typeof value !== 'number') return [`${bench} has no ${path}`];
    return value <= most ? [] : [`${bench} ${path} is ${value}, more than ${most}`];
  });
  return problems.length === 0 ? undefined : problems.join('; ');
}
