import { z } from 'zod';
import type { Tool } from '../../activities/tools/define-tool';
import { defineTool } from '../../activities/tools/define-tool';
import { limits } from '../../contract/limits';
import { checkOptions, having, required } from '../../contract/check';
import type { Skill, SkillHead } from './skills';
import type { SkillBackend } from './worker/skill-files';

export interface SkillToolOptions {
  /** Such as `skillFiles(directoryBackend("."), "/skills")`. */
  readonly backend: SkillBackend;
}

const input = z.discriminatedUnion('action', [
  z.object({ action: z.literal('list') }),
  z.object({ action: z.literal('get'), skill: z.string() }),
]);

/**
 * Reads skills. Models never get the tool.
 * @example
 * const backend = skillFiles(directoryBackend('.'), '/skills');
 * export const skillTools = { skill_files: skillFilesTool({ backend }) };
 * export default defineConfig({ agents: 'agents.ts', tools: { ...tools, ...skillTools } });
 */
export function skillFilesTool(options: SkillToolOptions): Tool<z.output<typeof input>, Skill | readonly SkillHead[]> {
  const backend = having(['list', 'get'], 'skillFiles(directoryBackend("."), "/skills"), or an object with list and get');
  checkOptions('skillFilesTool', options, { backend: required(backend) }, 'config-invalid');
  return defineTool<z.output<typeof input>, Skill | readonly SkillHead[]>({
    description: 'Reads the skills of a project.',
    inputSchema: input,
    effect: 'none',
    resultLimit: limits.message,
    execute: (asked) => (asked.action === 'list' ? options.backend.list() : options.backend.get(asked.skill)),
  });
}
