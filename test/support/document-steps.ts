import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(__dirname, '..', '..');

export type Step =
  | { readonly kind: 'file'; readonly name: string; readonly text: string }
  | { readonly kind: 'commands'; readonly terminal: string; readonly exit: number; readonly text: string }
  | { readonly kind: 'shown'; readonly terminal: string; readonly text: string };

export interface Section {
  readonly heading: string;
  readonly steps: readonly Step[];
}

/**
 * Splits sections into steps by the words after a block's language: a file's name, `terminal-1` or `exit-2`. A TypeScript block names the
 * file in the first line.
 */
export function stepsOf(document: string): readonly Section[] {
  const [, ...sections] = readFileSync(join(root, document), 'utf8').split(/^## /m);
  return sections.map((section) => {
    const blocks = [...section.matchAll(/^```(\w+) ?(.*)\n([\s\S]*?)^```$/gm)];
    return {
      heading: section.slice(0, section.indexOf('\n')),
      steps: blocks.map(([, language = '', words = '', text = '']) => stepOf(language, words, text)),
    };
  });
}

function stepOf(language: string, words: string, text: string): Step {
  const [, terminal = 'terminal-2'] = /^(terminal-\d)$/.exec(words) ?? [];
  switch (language) {
    case 'sh':
      return { kind: 'commands', terminal, exit: Number(/^exit-(\d)$/.exec(words)?.[1] ?? 0), text };
    case 'text':
      return { kind: 'shown', terminal, text };
    default: {
      const name = words || /^\/\/ (\S+)\n/.exec(text)?.[1];
      if (name === undefined) throw new Error(`A block of ${language} does not say which file it is:\n${text}`);
      return { kind: 'file', name, text };
    }
  }
}

/** Returns the first expected line missing from the output. `…` matches any text of a line; extra lines may come between. */
export function notShown(expected: string, output: string): string | undefined {
  const lines = output.split('\n').map((line) => line.trimEnd());
  let from = 0;
  for (const line of expected.split('\n').filter((each) => each.trim() !== '')) {
    const pattern = new RegExp(
      `^${line
        .trimEnd()
        .split('…')
        .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
        .join('.*')}$`,
    );
    const found = lines.findIndex((each, index) => index >= from && pattern.test(each));
    if (found < 0) return line;
    from = found + 1;
  }
  return undefined;
}
