import { z } from 'zod';
import type { Tool } from '../../activities/tools/define-tool';
import { defineTool } from '../../activities/tools/define-tool';
import { limits } from '../../contract/limits';
import { fieldsOf } from '../checked-options';
import type { FileBackend } from '../filesystem/worker/backend';
import type { LoadedAgentsMd } from './loaded';
import { loadFiles } from './worker/load-files';

export interface AgentsMdToolOptions {
  /** Where the files are. */
  readonly backend: Pick<FileBackend, 'read'>;
}

const input = z.object({ files: z.array(z.string()), maxBytes: z.number().int().min(0).default(0) });

/** The tool by which `agentsMd` reads its files. No agent offers it to a model. */
export function agentsMdTool(options: AgentsMdToolOptions): Tool<z.output<typeof input>, LoadedAgentsMd> {
  const { fields, refuse } = fieldsOf(options, ['backend'], 'agentsMdTool', 'config-invalid');
  const given = fields['backend'] as Partial<FileBackend> | null | undefined;
  if (typeof given !== 'object' || given === null) refuse('backend is required; directoryBackend("./files") makes one.');
  if (typeof given?.read !== 'function') refuse('the backend has no read.');
  const { backend } = options;
  return defineTool({
    description: 'Reads the instructions of a project for its agents.',
    inputSchema: input,
    effect: 'none',
    resultLimit: limits.message,
    execute: ({ files, maxBytes }, { signal }) => loadFiles(backend, files, maxBytes, signal),
  });
}
