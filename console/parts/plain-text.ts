/** What changes the direction of text, or is not seen at all. A joiner of an emoji stays. */
const hidden =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

const longest = 12_000;
const longestLine = 4_000;

/** Text with a mark in place of each character that nobody sees. */
export function visibleText(text: string): string {
  return text.replace(hidden, (character) => `⟦U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟧`);
}

/** The beginning of a text, cut where it or one of its lines is too long to be drawn. */
export function cutText(text: string, most = longest, mostOfLine = longestLine): string {
  const start = text.slice(0, most);
  const lines = start.split('\n').map((line) => (line.length > mostOfLine ? `${line.slice(0, mostOfLine)}…` : line));
  const cut = lines.join('\n');
  return text.length > most ? `${cut}…` : cut;
}

export function sizeText(length: number): string {
  return length < 1_000 ? `${length}` : length < 1_000_000 ? `${(length / 1_000).toFixed(1)} K` : `${(length / 1_000_000).toFixed(1)} M`;
}
