import type { Json, ToolCall } from '../../contract/messages/messages';
import type { AgentDefinition } from '../define/definition';
import { exitTool } from '../define/transfer-names';
import type { AgentScope } from './scope';

export interface NamedCall extends ToolCall {
  readonly written: string;
}

type NamedTool = Pick<AgentScope, 'agent' | 'record'>;

/** Only this function reads written names. An unknown name stays. */
export function namedCalls(scope: NamedTool, calls: readonly ToolCall[]): readonly NamedCall[] {
  return calls.map((call) => ({ ...call, name: offeredName(scope, call.name) ?? call.name, written: call.name }));
}

export function offeredName({ agent, record }: NamedTool, written: string): string | undefined {
  if (written === exitTool && agent.exitTool) return written;
  return nameAmong(agent, written, [...record.tools, ...record.callable]);
}

/** Finds the tool even if it was removed since, or belongs to an earlier agent. */
export function toolNamed(scope: NamedTool, written: string): string {
  const { agent } = scope;
  return offeredName(scope, written) ?? nameAmong(agent, written, [...agent.tools, ...Object.keys(agent.toolAliases)]) ?? written;
}

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

/** An alias counts if the canonical key is absent. Values that are not objects pass. */
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
