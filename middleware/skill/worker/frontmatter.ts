export interface Frontmatter {
  readonly head: Readonly<Record<string, string>>;
  readonly content: string;
}

const mark = /^---[ \t]*$/;

/** The head of a file between two lines of three dashes, as far as it has texts, and what stands behind it. */
export function frontmatterOf(text: string): Frontmatter {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  if (!mark.test(lines[0] ?? '')) throw new Error('it does not begin with a line "---".');
  const end = lines.findIndex((line, position) => position > 0 && mark.test(line));
  if (end < 0) throw new Error('its head has no end, a second line "---".');
  return {
    head: textsOf(lines.slice(1, end)),
    content: lines
      .slice(end + 1)
      .join('\n')
      .trim(),
  };
}

/** YAML's texts: plain, quoted and in blocks. Lists and objects are passed over. */
function textsOf(lines: readonly string[]): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (/^\s*(#.*)?$/.test(line)) continue;
    const found = /^([A-Za-z_][\w-]*):(?:\s+(.*))?$/.exec(line);
    if (found === null) throw new Error(`its head has a line that is none: "${line.slice(0, 80)}".`);
    const [, key = '', value = ''] = found;
    const below: string[] = [];
    while (at + 1 < lines.length && /^(\s+.*|\s*|- .*)$/.test(lines[at + 1] ?? '')) below.push(lines[++at] ?? '');
    const read = textOf(value.trim(), below);
    if (read !== undefined) texts[key] = read;
  }
  return texts;
}

function textOf(value: string, below: readonly string[]): string | undefined {
  const inside = below.map((line) => line.trim());
  if (/^[|>][+-]?$/.test(value)) return inside.join(value.startsWith('|') ? '\n' : ' ').trim();
  if (value === '' && below.some((line) => line.trim() !== '')) return undefined;
  if (value.startsWith('[') || value.startsWith('{')) return undefined;
  return unquoted([value, ...inside].filter((part) => part !== '').join(' '));
}

function unquoted(value: string): string {
  if (/^".*"$/s.test(value)) return quoted(value);
  if (/^'.*'$/s.test(value)) return value.slice(1, -1).replace(/''/g, "'");
  return value.replace(/\s+#.*$/, '');
}

function quoted(value: string): string {
  try {
    return String(JSON.parse(value));
  } catch {
    return value.slice(1, -1);
  }
}
