const mostEdits = 3;
const most = 3;

/** Nearest first. Short names must be nearer. */
export function similarNames(meant: string, names: readonly string[]): readonly string[] {
  const near = names.flatMap((name) => {
    const allowed = Math.min(mostEdits, Math.floor(Math.max(name.length, meant.length) / 3));
    const edits = Math.abs(name.length - meant.length) > allowed ? Infinity : editsBetween(meant.toLowerCase(), name.toLowerCase());
    return edits <= allowed ? [{ name, edits }] : [];
  });
  return near
    .sort((one, other) => one.edits - other.edits)
    .slice(0, most)
    .map(({ name }) => name);
}

function editsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, position) => position);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
