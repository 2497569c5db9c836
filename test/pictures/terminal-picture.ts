export interface Typed {
  readonly command: string;
  readonly output: string;
}

const columns = 100;
const letter = { width: 8, height: 19 };
const edge = 20;

const colors = {
  back: '#16181d',
  text: '#d7dae0',
  command: '#ffffff',
  call: '#6cb6ff',
  result: '#8b949e',
  question: '#e3b341',
  done: '#56d364',
};

const kinds: readonly (readonly [RegExp, keyof typeof colors])[] = [
  [/^\$ /, 'command'],
  [/^→/, 'call'],
  [/^←/, 'result'],
  [/^\?/, 'question'],
  [/^✓|^Holdfast is ready/, 'done'],
];

export function terminalPicture(title: string, session: readonly Typed[]): string {
  const lines = session.flatMap(({ command, output }, index) => [
    ...(index === 0 ? [] : ['']),
    `$ ${command}`,
    ...(output.trim() === '' ? [] : output.trim().split('\n')),
  ]);
  const rows = lines.flatMap(rowsOf);
  const width = columns * letter.width + 2 * edge;
  const height = rows.length * letter.height + 2 * edge;
  // Non-breaking spaces, because browsers collapse others.
  const texts = rows.map(({ text, color, isFirst }, index) =>
    text === ''
      ? ''
      : `<text x="${edge}" y="${edge + (index + 0.75) * letter.height}" fill="${colors[color]}"${isFirst ? '' : ' data-goes-on=""'}>${escaped(text).replace(/ /g, '\u00a0')}</text>\n`,
  );
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">\n` +
    `<title>${escaped(title)}</title>\n` +
    `<rect width="${width}" height="${height}" rx="8" fill="${colors.back}"/>\n` +
    `<g font-family="SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13">\n` +
    `${texts.join('')}</g>\n</svg>\n`
  );
}

export function linesOfPicture(svg: string): readonly string[] {
  const lines: string[] = [];
  for (const [, attributes = '', text = ''] of svg.matchAll(/<text ([^>]*)>(.*?)<\/text>/g)) {
    const shown = text.replace(/\u00a0/g, ' ').replace(/&(lt|gt|amp);/g, (_, name: 'lt' | 'gt' | 'amp') => marks[name]);
    if (attributes.includes('data-goes-on')) lines.push(`${lines.pop() ?? ''}${shown}`);
    else lines.push(shown);
  }
  return lines;
}

interface Row {
  readonly text: string;
  readonly color: keyof typeof colors;
  readonly isFirst: boolean;
}

function rowsOf(line: string): readonly Row[] {
  const color = kinds.find(([pattern]) => pattern.test(line))?.[1] ?? 'text';
  const rows: Row[] = [];
  for (let from = 0; from === 0 || from < line.length; from += columns)
    rows.push({ text: line.slice(from, from + columns), color, isFirst: from === 0 });
  return rows;
}

const marks = { lt: '<', gt: '>', amp: '&' } as const;

function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}
