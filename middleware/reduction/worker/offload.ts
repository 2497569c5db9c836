import { checkFields, having, refusing, required } from '../../../contract/check';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { z } from 'zod';
import { currentCall } from '../../../activities/calls/call-context';
import type { Tool } from '../../../activities/tools/define-tool';
import { defineTool } from '../../../activities/tools/define-tool';
import { HoldfastError } from '../../../contract/errors';
import { offloadPath, offloadToolName, segmentsOf } from '../plain';

/** All workers of a deployment share a backend. */
export interface OffloadBackend {
  /** The same text may be written to the same path again. */
  write(path: string, text: string): Promise<void>;
  /** Undefined: no such path. */
  read(path: string): Promise<string | undefined>;
}

/**
 * Keeps long tool results as files of a directory. Nothing removes the files.
 * @example
 * const backend = directoryOffload('.holdfast/offload');
 * export const middleware = [reductionOnWorker({ backend })];
 * export const allTools = { ...tools, ...offloadTools(backend) };
 */
export function directoryOffload(directory: string): OffloadBackend {
  if (typeof directory !== 'string' || directory === '')
    throw new HoldfastError('config-invalid', 'directoryOffload: it takes a directory, such as directoryOffload("offload").');
  const root = resolve(directory);
  const fileOf = (path: string): string => {
    if (typeof path !== 'string' || path.includes('\0'))
      throw new HoldfastError('request-invalid', 'A path is a text without a NUL in it.');
    const file = join(root, path);
    const inside = relative(root, file);
    if (inside === '' || inside.startsWith('..') || isAbsolute(inside))
      throw new HoldfastError('request-invalid', `The path "${path}" leads out of the directory of the offload.`);
    return file;
  };
  return {
    async write(path, text) {
      const file = fileOf(path);
      try {
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, text, 'utf8');
      } catch (error) {
        throw cannot('written', path, error);
      }
    },
    async read(path) {
      try {
        return await readFile(fileOf(path), 'utf8');
      } catch (error) {
        const { code } = error as { readonly code?: unknown };
        if (code === 'ENOENT' || code === 'EISDIR' || code === 'ENOTDIR' || code === 'ENAMETOOLONG') return undefined;
        throw cannot('read', path, error);
      }
    },
  };
}

/** Node's errors name the worker's directory, which the model must not see. */
function cannot(doing: string, path: string, error: unknown): unknown {
  const { code, syscall } = error as { readonly code?: string; readonly syscall?: string };
  return syscall === undefined ? error : new HoldfastError('tool-failed', `The path "${path}" cannot be ${doing}: ${code ?? 'unknown'}.`);
}

export function currentRun(): string {
  return currentCall()?.workflowId ?? 'memory';
}

const stored = z.object({
  rootDir: z.string(),
  results: z.array(z.object({ callId: z.string(), place: z.string(), text: z.string(), path: z.string().optional() })),
});
type Stored = z.infer<typeof stored>;

const longestPage = 20_000;
const page = z.object({
  path: z.string().describe('The path that a notice named.'),
  offset: z.int().min(0).default(0).describe('The character to begin with.'),
  limit: z.int().min(1).max(longestPage).default(longestPage).describe('How many characters.'),
});
type OffloadPage = z.infer<typeof page>;

/**
 * `reduction_offload` stores cleared results for `reduction`. Agents may name `read_file`, which reads their own run's results.
 * @example
 * const backend = directoryOffload('.holdfast/offload');
 * export const allTools = { ...tools, ...offloadTools(backend) };
 * export default defineConfig({ agents: 'agents.ts', tools: allTools });
 */
export function offloadTools(backend: OffloadBackend): {
  readonly reduction_offload: Tool<Stored, string[]>;
  readonly read_file: Tool<OffloadPage, string>;
} {
  checkFields({ backend }, { backend: required(offloadForm) }, refusing('offloadTools', 'config-invalid'));
  return {
    [offloadToolName]: defineTool({
      description: 'Stores results of tools that are cleared.',
      inputSchema: stored,
      effect: 'idempotent',
      timeout: '10s',
      async execute({ rootDir, results }: Stored) {
        const paths: string[] = [];
        for (const { callId, place, text, path = offloadPath(rootDir, currentRun(), 'clear', { place, callId }) } of results) {
          await backend.write(path, text);
          paths.push(path);
        }
        return paths;
      },
    }),
    read_file: defineTool({
      description: 'Reads what was stored of a result of a tool that was too long or has been cleared.',
      inputSchema: page,
      async execute({ path, offset, limit }: OffloadPage) {
        const text = isOfThisRun(path) ? await backend.read(path) : undefined;
        if (text === undefined) return `There is no file "${path}". Use a path that a notice named, as it stands there.`;
        const end = Math.min(text.length, offset + limit);
        const rest = end < text.length ? `; go on with offset ${end}` : '';
        return `${text.slice(offset, end)}\n[characters ${Math.min(offset, end)} to ${end} of ${text.length}${rest}]`;
      },
    }),
  };
}

/** A model may name any path, also of other runs. */
function isOfThisRun(path: string): boolean {
  return `/${path}`.includes(`/${segmentsOf(currentRun())}/`) && !path.split('/').includes('..');
}

export const offloadForm = having(['write', 'read'], 'an object with write and read, such as directoryOffload("offload")');
