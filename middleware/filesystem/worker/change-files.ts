import { z } from 'zod';
import type { Tool } from '../../../activities/tools/define-tool';
import { defineTool } from '../../../activities/tools/define-tool';
import type { FileBackend } from './backend';

const file = z.string().describe('The file, such as /notes/today.md.');
const writeInput = z.object({
  file_path: file,
  content: z.string().describe('All that the file is to have.'),
});
const editInput = z.object({
  file_path: file,
  old_string: z.string().describe('The text to replace, exactly as it stands in the file, without line numbers.'),
  new_string: z.string().describe('The text to put there.'),
  replace_all: z.boolean().optional().describe('Replaces every occurrence. Without it there has to be exactly one.'),
});

export function writeFileTool(backend: FileBackend): Tool<z.input<typeof writeInput>, string> {
  return defineTool({
    description: 'Writes a file, with the folders that it needs. A file that is there is written over.',
    inputSchema: writeInput,
    effect: 'idempotent',
    execute: async ({ file_path: path, content }) => {
      await oneByOne(backend, path, () => backend.write(path, content));
      return `Updated file ${path}`;
    },
  });
}

export function editFileTool(backend: FileBackend): Tool<z.input<typeof editInput>, string> {
  return defineTool({
    description:
      'Replaces a text in a file by another one. Read the file first. The old text has to be unique, unless replace_all is true.',
    inputSchema: editInput,
    effect: 'idempotent',
    execute: async ({ file_path: path, old_string: before, new_string: after, replace_all: all = false }, { attempt }) => {
      if (before === '') throw new Error('old_string is empty. Say which text to replace, or write the whole file with write_file.');
      if (before === after) throw new Error('old_string and new_string are the same.');
      return oneByOne(backend, path, async () => {
        const content = await (backend.readToEdit ?? backend.read).call(backend, path);
        const count = content.split(before).length - 1;
        // A lost attempt may have made the change.
        const mayBeDone = attempt > 1 && content.includes(after);
        if (count === 0 && mayBeDone) return edited(path);
        if (count === 0) throw new Error(`The file ${path} does not have this text: ${shortened(before)}`);
        if (mayBeDone)
          throw new Error(
            `Nobody knows whether ${path} was edited: an attempt was lost, and the new text stands in the file. Read it and see.`,
          );
        if (count > 1 && !all)
          throw new Error(`The file ${path} has this text ${count} times. Give more of what stands around it, or set replace_all.`);
        await backend.write(path, content.split(before).join(after));
        return edited(path);
      });
    },
  });
}

const busy = new WeakMap<FileBackend, Map<string, Promise<unknown>>>();

/** Calls of one message begin at once, but each change of a file has to see its predecessor. */
async function oneByOne<Result>(backend: FileBackend, path: string, change: () => Promise<Result>): Promise<Result> {
  const files = busy.get(backend) ?? new Map<string, Promise<unknown>>();
  busy.set(backend, files);
  const before = files.get(path);
  const changing = before === undefined ? change() : before.then(change, change);
  files.set(path, changing);
  try {
    return await changing;
  } finally {
    if (files.get(path) === changing) files.delete(path);
  }
}

function edited(path: string): string {
  return `Replaced the text in ${path}`;
}

function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
