export { visibleText } from '../../contract/visible-text';

const longest = 12_000;
const longestLine = 4_000;

/** Browsers draw long texts and long lines slowly. */
export function cutText(text: string, most = longest, mostOfLine = longestLine): string {
  const start = text.slice(0, most);
  const lines = start.split('\n').map((line) => (line.length > mostOfLine ? `${line.slice(0, mostOfLine)}…` : line));
  const cut = lines.join('\n');
  return text.length > most ? `${cut}…` : cut;
}

export function sizeText(length: number): string {
  return length < 1_000 ? `${length}` : length < 1_000_000 ? `${(length / 1_000).toFixed(1)} K` : `${(length / 1_000_000).toFixed(1)} M`;
}

export function filled<Name extends string>(fields: Readonly<Record<Name, string | undefined>>): Readonly<Partial<Record<Name, string>>> {
  return Object.fromEntries(Object.entries(fields).filter(([, text]) => text)) as Partial<Record<Name, string>>;
}
