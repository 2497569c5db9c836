export interface Heading {
  readonly level: number;
  readonly text: string;
}

/** Blanks code and comments, and keeps line numbers. */
export function withoutCode(markdown: string): string {
  return markdown.replace(/^( *)```[\s\S]*?^\1```$|<!--[\s\S]*?-->/gm, (block) => block.replace(/[^\n]/g, ''));
}

export function headingsOf(markdown: string): readonly Heading[] {
  return [...withoutCode(markdown).matchAll(/^(#+) (.+)$/gm)].map(([, marks = '', text = '']) => ({ level: marks.length, text }));
}

/** As GitHub makes anchors. */
export function anchorOf(heading: string): string {
  return heading
    .replace(/[`\\]/g, '')
    .trim()
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number} _-]/gu, '')
    .replace(/ /g, '-');
}

export function plainText(markdown: string): string {
  return markdown.replace(/``[^`].*?``|`[^`]*`/g, 'code').replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1');
}

export function sentencesOf(markdown: string): readonly string[] {
  return blocksOf(withoutCode(markdown)).flatMap((block) => split(plainText(block)));
}

export function wordsOf(sentence: string): number {
  return sentence.split(/\s+/).filter((word) => /\w/.test(word)).length;
}

function blocksOf(markdown: string): readonly string[] {
  const blocks: string[] = [];
  let open: string[] = [];
  const close = (): void => {
    if (open.length > 0) blocks.push(open.join(' '));
    open = [];
  };
  for (const line of markdown.split('\n')) {
    const text = line.replace(/^[\s>]*/, '');
    const item = /^(?:[-*+]|\d+\.) +(.*)$/.exec(text);
    if (item !== null || /^(?:[|#]|$)/.test(text)) close();
    if (item !== null) open.push(item[1] ?? '');
    else if (!/^(?:[|#]|$)/.test(text)) open.push(text);
  }
  close();
  return blocks;
}

/** A colon ends a sentence before a capital letter, a mark or code. */
function split(text: string): readonly string[] {
  return text
    .split(/(?<=[.!?]["”)*_]*(?<!\b(?:e\.g|i\.e|vs)\.))\s+|(?<=:\**)\s+(?=[A-Z"“(*_]|code\b)/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => wordsOf(sentence) > 0);
}
