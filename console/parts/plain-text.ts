/** Invisible characters and direction marks, except joiners of emojis. */
const hidden =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

const longest = 12_000;
const longestLine = 4_000;

export function visibleText(text: string): string {
  return text.replace(hidden, (character) => `⟦U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟧`);
}

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
