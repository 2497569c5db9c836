import { z } from 'zod';
import type { Tool } from '../../../activities/tools/define-tool';
import { defineTool } from '../../../activities/tools/define-tool';
import type { FileBackend } from './backend';
import { glob, grep } from './search';
import { contentAnswer, countAnswer, filesAnswer, noFiles } from './search-answers';

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

export function listTool(backend: FileBackend, description?: string): Tool<z.output<typeof listInput>, string> {
  return defineTool({
    description: description ?? 'Lists what stands in a folder. Folders end with "/".',
    inputSchema: listInput,
    effect: 'none',
    execute: async ({ path }) => {
      const entries = await backend.list(path);
      return entries.length === 0 ? noFiles : entries.map((entry) => (entry.kind === 'folder' ? `${entry.path}/` : entry.path)).join('\n');
    },
  });
}

export function globTool(backend: FileBackend, description?: string): Tool<z.output<typeof globInput>, string> {
  return defineTool({
    description: description ?? 'Finds files by the names of their paths.',
    inputSchema: globInput,
    effect: 'none',
    execute: async ({ pattern, path }) => {
      const files = await glob(backend, pattern, path);
      return files.length === 0 ? noFiles : files.join('\n');
    },
  });
}

export function grepTool(backend: FileBackend, description?: string): Tool<z.output<typeof grepInput>, string> {
  return defineTool({
    description: description ?? 'Searches in files by a regular expression.',
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
