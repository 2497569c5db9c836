import { z } from 'zod';
import type { Tool } from '../../activities/tools/define-tool';
import type { ToolSpec } from '../../contract/manifest';
import { ToolRegistry, defineTool } from '../../activities/tools/tools';
import { HoldfastError } from '../../contract/errors';
import { isFilledList, isRecord } from '../../contract/check';
import { findTools } from './worker/find-tools';

const input = z.object({
  query: z.string().describe('select:name1,name2 for tools by name; or words, of which +words have to be there: "+slack send".'),
  max_results: z.number().int().optional().describe('How many tools to give, for words. Default: 5.'),
});

type FoundTools = { readonly selectedTools: readonly string[] } | readonly ToolSpec[];

const defaultResults = 5;

/**
 * Makes the tool that searches the given tools for agents with `toolSearch`.
 * @example
 * const office = { findOrder: tools.findOrder, refund: tools.refund };
 * export const allTools = { ...office, tool_search: toolSearchTool(office) };
 * export default defineConfig({ agents: 'agents.ts', tools: allTools });
 */
export function toolSearchTool(tools?: Readonly<Record<string, unknown>>): Tool<z.output<typeof input>, FoundTools> {
  if (tools !== undefined && (!isRecord(tools) || Object.keys(tools).length === 0))
    throw new HoldfastError('config-invalid', 'toolSearchTool takes the tools to search in, by name; there are none.');
  const registry = new ToolRegistry(tools ?? {});
  return defineTool<z.output<typeof input>, FoundTools>({
    description:
      'Finds tools that you do not have yet, among those that <available-deferred-tools> lists. You can call what is found in your next message.',
    inputSchema: input,
    effect: 'none',
    async execute({ query, max_results: asked = defaultResults }, { options }) {
      await registry.ready();
      const searched = isFilledList(options['tools']) ? options['tools'] : registry.names;
      const told = (options['specs'] ?? []) as unknown as readonly ToolSpec[];
      const specs = searched.flatMap((name) => registry.specOf(name) ?? told.find((spec) => spec.name === name) ?? []);
      const found = findTools(specs, query, asked > 0 ? asked : defaultResults);
      return options['whole'] === true ? found : { selectedTools: found.map(({ name }) => name) };
    },
  });
}
