const mark = /^---[ \t]*$/;

export function frontmatterOf(text: string): { readonly head: Readonly<Record<string, string>>; readonly content: string } {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  if (!mark.test(lines[0] ?? '')) throw new Error('it does not begin with a line "---".');
  const end = lines.findIndex((line, position) => position > 0 && mark.test(line));
  if (end < 0) throw new Error('its head has no end, a second line "---".');
  const content = lines.slice(end + 1).join('\n');
  return { head: textsOf(lines.slice(1, end)), content: content.trim() };
}

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
    if (Object.hasOwn(texts, key)) throw new Error(`its head has "${key}" twice.`);
    const read = textOf(key, value.trim(), below);
    if (read !== undefined) texts[key] = read;
  }
  return texts;
}

function textOf(key: string, value: string, below: readonly string[]): string | undefined {
  const inside = below.map((line) => line.trim());
  if (/^[|>][+-]?$/.test(value)) return inside.join(value.startsWith('|') ? '\n' : ' ').trim();
  if (value === '' && below.some((line) => line.trim() !== '')) return undefined;
  if (value.startsWith('[') || value.startsWith('{')) return undefined;
  return unquoted(key, [value, ...inside].filter((part) => part !== '').join(' '), below.length > 0);
}

function unquoted(key: string, value: string, isLong: boolean): string {
  const refuse = (problem: string): never => {
    throw new Error(`its "${key}" ${problem}: ${value.slice(0, 80)}`);
  };
  const mark = value[0];
  if (mark === '"' || mark === "'") {
    const end = endOfQuoted(value, mark);
    if (end < 0 || !/^\s*(#.*)?$/.test(value.slice(end + 1))) return refuse('begins with a quotation mark that nothing ends');
    return mark === '"' ? quoted(value.slice(0, end + 1)) : value.slice(1, end).replace(/''/g, "'");
  }
  const plain = value.replace(/(^|\s+)#.*$/, '');
  // YAML wants quotes for a colon, but only over several lines does a colon mean an indented key.
  if (isLong && /:(\s|$)/.test(plain)) return refuse('goes on with what is no text; put it in quotation marks');
  return plain;
}

function endOfQuoted(value: string, mark: string): number {
  for (let at = 1; at < value.length; at++) {
    if (mark === '"' && value[at] === '\\') at += 1;
    else if (value[at] !== mark) continue;
    else if (mark === "'" && value[at + 1] === mark) at += 1;
    else return at;
  }
  return -1;
}

function quoted(value: string): string {
  try {
    return String(JSON.parse(value));
  } catch {
    return value.slice(1, -1);
  }
}
