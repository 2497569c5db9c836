import { z } from 'zod';
import type { Tool } from '../../activities/tools/define-tool';
import { defineTool } from '../../activities/tools/define-tool';
import { limits } from '../../contract/limits';
import { checkOptions, having, required } from '../../contract/check';
import type { FileBackend } from '../filesystem/worker/backend';
import type { LoadedAgentsMd } from './workflow';
import { loadFiles } from './worker/load-files';

const input = z.object({ files: z.array(z.string()), maxBytes: z.number().int().min(0).default(0) });

/**
 * Reads the files of `agentsMd`. Models never get the tool.
 * @example
 * const backend = directoryBackend('.');
 * export const instructionTools = { agents_md: agentsMdTool({ backend }) };
 * export default defineConfig({ agents: 'agents.ts', tools: { ...tools, ...instructionTools } });
 */
export function agentsMdTool(options: { readonly backend: Pick<FileBackend, 'read'> }): Tool<z.output<typeof input>, LoadedAgentsMd> {
  const backendForm = having(['read'], 'a backend, such as directoryBackend("./files")');
  checkOptions('agentsMdTool', options, { backend: required(backendForm) }, 'config-invalid');
  const { backend } = options;
  return defineTool({
    description: 'Reads the instructions of a project for its agents.',
    inputSchema: input,
    effect: 'none',
    resultLimit: limits.message,
    execute: ({ files, maxBytes }, { signal }) => loadFiles(backend, files, maxBytes, signal),
  });
}
