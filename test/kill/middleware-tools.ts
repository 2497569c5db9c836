import { z } from 'zod';
import { defineTool } from '../../activities/tools/tools';
import type { FileBackend, Shell } from '../../worker/index';
import {
  agentsMdTool,
  directoryBackend,
  directoryShell,
  fileTools,
  offloadTools,
  skillFiles,
  skillFilesTool,
  taskTools,
  toolSearchTool,
} from '../../worker/index';

export type Count = (what: string) => number;

export interface Means {
  readonly count: Count;
  readonly folder: string;
  readonly hold?: (where: string) => Promise<void>;
}

let means: Means = { count: () => 1, folder: '' };

export function toolsWork(given: Means): void {
  means = given;
}

/** Looked up per call, because the folder is known only after the start. */
const files: FileBackend = {
  list: (path) => directoryBackend(means.folder).list(path),
  read: (path) => directoryBackend(means.folder).read(path),
  write: (path, text) => directoryBackend(means.folder).write(path, text),
  remove: (path) => directoryBackend(means.folder).remove(path),
};
const shell: Shell = { execute: (command, signal) => directoryShell(means.folder).execute(command, signal) };

export const stored = { write: files.write, read: files.read };

export const firstFiles: Readonly<Record<string, string>> = {
  'AGENTS.md': 'Be kind.',
  'skills/deep/SKILL.md': '---\nname: deep\ndescription: Thinks.\nmodel: strong\n---\nThink it over.',
};

const found = {
  flaky: defineTool({
    description: 'Fails the first time.',
    inputSchema: z.object({ text: z.string() }),
    execute: ({ text }, call) => {
      if (means.count(`flaky:${call.idempotencyKey}`) === 1) throw new Error('out of order');
      return text;
    },
  }),
  contact: defineTool({
    description: 'Finds a contact.',
    inputSchema: z.object({ name: z.string() }),
    execute: ({ name }) => `${name}@example.com, card 4111 1111 1111 1111`,
  }),
};

export const rowTools = {
  ...found,
  echo: defineTool({ description: 'Says it again.', inputSchema: z.object({ text: z.string() }), execute: ({ text }) => text }),
  file: defineTool({
    description: 'Files a note.',
    inputSchema: z.object({ note: z.string() }),
    effect: 'once',
    execute: async ({ note }, call) => {
      means.count(`filed:${call.idempotencyKey}`);
      await means.hold?.('file');
      return { filed: note };
    },
    reconcile: ({ note }) => ({ happened: true, result: { filed: note } }),
  }),
  ...fileTools({ backend: files, shell }),
  ...taskTools({ backend: files, baseDir: '/tasks' }),
  agents_md: agentsMdTool({ backend: files }),
  skill_files: skillFilesTool({ backend: skillFiles(files, '/skills') }),
  tool_search: toolSearchTool(found),
  reduction_offload: offloadTools(stored).reduction_offload,
};
