import { z } from 'zod';
import type { EnhancedTool, Tool } from '../../../activities/tools/define-tool';
import { defineTool } from '../../../activities/tools/define-tool';
import { limits } from '../../../contract/limits';
import type { Part } from '../../../contract/messages/messages';
import type { FileBackend, PageRange } from './backend';

const defaultLines = 2000;

const input = z.object({
  file_path: z.string().describe('The file, such as /notes/today.md.'),
  offset: z.number().int().optional().describe('The first line to read, from 1. Default: 1.'),
  limit: z.number().int().optional().describe(`How many lines to read. Default: ${defaultLines}.`),
});
const inputWithPages = input.extend({
  pages: z.string().optional().describe('Of a document such as a PDF: a page, "3", or a range of at most 20, "1-10".'),
});

type Input = z.output<typeof input>;
export type ReadFileInput = z.input<typeof inputWithPages>;
type InputWithPages = z.output<typeof inputWithPages>;

const description =
  'Reads a text file. Each line comes with its number and a tab before it, which are no part of the file. Read a long file in pieces, with offset and limit.';

export function readFileTool(backend: FileBackend): Tool<Input, string> {
  return defineTool({
    description,
    inputSchema: input,
    effect: 'none',
    execute: async ({ file_path: path, offset, limit }) => numberedLines(await backend.read(path), offset, limit),
  });
}

export function readPartsTool(readParts: NonNullable<FileBackend['readParts']>): EnhancedTool<InputWithPages> {
  return defineTool({
    description,
    inputSchema: inputWithPages,
    effect: 'none',
    enhanced: true,
    resultLimit: limits.payload - 65_536,
    execute: async ({ file_path: path, offset, limit, pages }) => {
      const range = pages === undefined || pages === '' ? undefined : parsePages(pages);
      if (range !== undefined && 'problem' in range) return [text(range.problem)];
      const content = await readParts(path, range);
      return typeof content === 'string' ? [text(numberedLines(content, offset, limit))] : content;
    },
  });
}

const mostPages = 20;

function parsePages(text: string): PageRange | { readonly problem: string } {
  const found = /^\s*([1-9]\d{0,5})(?:\s*-\s*([1-9]\d{0,5}))?\s*$/.exec(text);
  if (found === null)
    return { problem: `Invalid pages "${text}": write one page such as "3", or a range such as "1-10". Pages count from 1.` };
  const first = Number(found[1]);
  const last = Number(found[2] ?? found[1]);
  if (last < first) return { problem: `Invalid pages "${text}": the last page is before the first.` };
  if (last - first + 1 > mostPages)
    return { problem: `Invalid pages "${text}": at most ${mostPages} pages are read at once, and these are ${last - first + 1}.` };
  return { first, last };
}

function text(said: string): Part {
  return { type: 'text', text: said };
}

export function numberedLines(content: string, offset = 1, limit = defaultLines): string {
  if (content === '') return 'The file is empty.';
  const lines = content.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const first = Math.max(1, offset);
  const shown = lines.slice(first - 1, first - 1 + (limit > 0 ? limit : defaultLines));
  if (shown.length === 0)
    return `The file has ${lines.length} ${lines.length === 1 ? 'line' : 'lines'}; there is nothing from line ${first} on.`;
  return shown.map((line, position) => `${String(first + position).padStart(6)}\t${line}`).join('\n');
}
