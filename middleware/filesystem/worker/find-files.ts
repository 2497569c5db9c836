import { z } from 'zod';
import type { Tool } from '../../../activities/tools/define-tool';
import { defineTool } from '../../../activities/tools/define-tool';
import type { FileBackend } from './backend';
import type { GrepLine } from './search';
import { glob, grep } from './search';

const listInput = z.object({ path: z.string().default('/').describe('The folder. Default: "/".') });
const globInput = z.object({
  pattern: z.string().describe('Such as *.md, or **/*.ts for all folders below.'),
  path: z.string().default('/').describe('The folder to look in. Default: "/".'),
});
const near = z.number().int().min(0).max(100).optional();
const grepInput = z.object({
  pattern: z.string().describe('A regular expression of JavaScript.'),
  path: z.string().optional().describe('The folder or file to search in. Default: "/".'),
  glob: z.string().optional().describe('Only files that fit, such as *.md.'),
  output_mode: z
    .enum(['files_with_matches', 'content', 'count'])
    .default('files_with_matches')
    .describe('The names of files, the lines, or how many lines there are in each file.'),
  '-i': z.boolean().optional().describe('Lets capital letters match small ones.'),
  '-n': z.boolean().default(true).describe('Shows the numbers of lines, with output_mode content.'),
  '-A': near.describe('How many lines to show after each match, with output_mode content.'),
  '-B': near.describe('How many lines to show before each match, with output_mode content.'),
  '-C': near.describe('How many lines to show around each match, with output_mode content.'),
  multiline: z.boolean().optional().describe('Lets a match go over lines: a dot is any character then.'),
  head_limit: z.number().int().optional().describe('How many entries to show. Default: all.'),
  offset: z.number().int().optional().describe('How many entries to leave out at the start. Default: none.'),
});

export type ListInput = z.input<typeof listInput>;
export type GlobInput = z.input<typeof globInput>;
export type GrepInput = z.input<typeof grepInput>;

export function listTool(backend: FileBackend): Tool<z.output<typeof listInput>, string> {
  return defineTool({
    description: 'Lists what stands in a folder. Folders end with "/".',
    inputSchema: listInput,
    effect: 'none',
    execute: async ({ path }) => {
      const entries = await backend.list(path);
      return entries.length === 0 ? noFiles : entries.map((entry) => (entry.kind === 'folder' ? `${entry.path}/` : entry.path)).join('\n');
    },
  });
}

export function globTool(backend: FileBackend): Tool<z.output<typeof globInput>, string> {
  return defineTool({
    description: 'Finds files by the names of their paths.',
    inputSchema: globInput,
    effect: 'none',
    execute: async ({ pattern, path }) => {
      const files = await glob(backend, pattern, path);
      return files.length === 0 ? noFiles : files.join('\n');
    },
  });
}

export function grepTool(backend: FileBackend): Tool<z.output<typeof grepInput>, string> {
  return defineTool({
    description: 'Searches in files by a regular expression.',
    inputSchema: grepInput,
    effect: 'none',
    execute: async (asked, { signal }) => {
      const { pattern, path, glob: files, output_mode: mode, multiline, head_limit: limit, offset } = asked;
      const around = mode === 'content' ? { before: asked['-B'] ?? asked['-C'] ?? 0, after: asked['-A'] ?? asked['-C'] ?? 0 } : {};
      const lines = await grep(backend, { pattern, path, glob: files, ignoreCase: asked['-i'], multiline, ...around }, signal);
      const page = { offset, limit };
      if (mode === 'count') return countAnswer(lines, page);
      return mode === 'content' ? contentAnswer(lines, page, asked['-n']) : filesAnswer(lines, page);
    },
  });
}

interface Page {
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

const noFiles = 'No files found';
const noMatches = 'No matches found';

function pageOf<Item>(items: readonly Item[], { offset = 0, limit = 0 }: Page): readonly Item[] {
  const from = Math.max(0, offset);
  return items.slice(from, limit > 0 ? from + limit : undefined);
}

function counted(count: number, one: string, more: string): string {
  return `${count} ${count === 1 ? one : more}`;
}

function countsOf(lines: readonly GrepLine[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { path, fits } of lines) if (fits) counts.set(path, (counts.get(path) ?? 0) + 1);
  return counts;
}

function filesAnswer(lines: readonly GrepLine[], page: Page): string {
  const files = [...countsOf(lines).keys()];
  if (files.length === 0) return noFiles;
  return [`Found ${counted(files.length, 'file', 'files')}`, ...pageOf(files, page)].join('\n');
}

function countAnswer(lines: readonly GrepLine[], page: Page): string {
  const counts = [...countsOf(lines)].sort(([one], [other]) => (one < other ? -1 : 1));
  if (counts.length === 0) return noMatches;
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  const shown = pageOf(counts, page).map(([path, count]) => `${path}:${count}`);
  const summary = `Found ${counted(total, 'total occurrence', 'total occurrences')} across ${counted(counts.length, 'file', 'files')}.`;
  return [...shown, ...(shown.length === 0 ? [] : ['']), summary].join('\n');
}

function contentAnswer(lines: readonly GrepLine[], page: Page, hasNumbers: boolean): string {
  if (lines.length === 0) return noMatches;
  const shown = pageOf(lines, page).map(({ path, line, text, fits }) => {
    const mark = fits ? ':' : '-';
    return hasNumbers ? `${path}${mark}${line}${mark}${text}` : `${path}${mark}${text}`;
  });
  return shown.length === 0 ? `Found ${counted(lines.length, 'line', 'lines')}` : shown.join('\n');
}
