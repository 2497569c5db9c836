import type { Json, ToolCall } from '../../contract/messages/messages';
import type { AgentDefinition } from '../define/agent';
import { exitTool } from '../define/transfer-names';
import type { AgentScope } from './scope';

/** A call by the name of its tool, beside the name that the model wrote, which stands in the transcript. */
export interface NamedCall extends ToolCall {
  readonly written: string;
}

/** What aliases are resolved by: of an agent as it is in this run. */
type NamedTool = Pick<AgentScope, 'agent' | 'record'>;

/** The calls of a message, each by the name of its tool. Nothing else looks at what the model wrote. A name that no tool has stays. */
export function namedCalls(scope: NamedTool, calls: readonly ToolCall[]): readonly NamedCall[] {
  return calls.map((call) => ({ ...call, name: offeredName(scope, call.name) ?? call.name, written: call.name }));
}

/** The tool that the model means, among those that the agent has. */
export function offeredName({ agent, record }: NamedTool, written: string): string | undefined {
  if (written === exitTool && agent.exitTool) return written;
  return nameAmong(agent, written, [...record.tools, ...record.callable]);
}

/** The tool of a call or a result wherever it stands: its tool may have been taken away since, or be one of an agent before this one. */
export function toolNamed(scope: NamedTool, written: string): string {
  const { agent } = scope;
  return offeredName(scope, written) ?? nameAmong(agent, written, [...agent.tools, ...Object.keys(agent.toolAliases)]) ?? written;
}

/** A call of the transcript by the name of its tool and the tool's own keys. */
export function callNamed(scope: NamedTool, { id, name: written, input }: ToolCall): ToolCall {
  const name = toolNamed(scope, written);
  return { id, name, input: ownKeys(scope.agent, name, input) };
}

export function nameAmong(
  { toolAliases }: Pick<AgentDefinition, 'toolAliases'>,
  written: string,
  tools: readonly string[],
): string | undefined {
  if (tools.includes(written)) return written;
  return tools.find((tool) => Object.hasOwn(toolAliases, tool) && toolAliases[tool]?.names?.includes(written) === true);
}

/** An alias counts where the tool's own key is absent. Whatever is no object passes untouched. */
export function ownKeys({ toolAliases }: Pick<AgentDefinition, 'toolAliases'>, tool: string, input: Json): Json {
  const aliases = Object.hasOwn(toolAliases, tool) ? toolAliases[tool]?.arguments : undefined;
  if (aliases === undefined || typeof input !== 'object' || input === null || Array.isArray(input)) return input;
  const renamed: Record<string, Json | undefined> = { ...(input as Record<string, Json | undefined>) };
  for (const [canonical, others] of Object.entries(aliases)) {
    for (const key of others) {
      if (!(key in renamed) || canonical in renamed) continue;
      renamed[canonical] = renamed[key];
      delete renamed[key];
    }
  }
  return renamed;
}
