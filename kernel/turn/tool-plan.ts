import { HoldfastError, messageOf } from '../../contract/errors';
import type { Failure, Json, ToolCall } from '../../contract/messages/messages';
import type { AgentDefinition } from '../define/definition';
import { exitTool } from '../define/transfer-names';
import { optionsOfTool } from '../run/run-options';
import type { AgentScope } from '../run/scope';
import { similarNames } from '../../contract/similar-names';
import type { NamedCall } from '../run/tool-names';
import { offeredName, ownKeys } from '../run/tool-names';

export type PlannedCall =
  | { readonly type: 'run'; readonly call: ToolCall }
  | { readonly type: 'answered'; readonly output: Json }
  | { readonly type: 'refused'; readonly error: Failure };

export function planCall(scope: AgentScope, requested: NamedCall): PlannedCall {
  const { agent, record } = scope;
  const name = offeredName(scope, requested.name);
  if (name === undefined) return unknownCall(agent, requested, record.tools);
  const renamed = ownKeys(agent, name, requested.input);
  if (name === exitTool && agent.exitTool) return exitResult(renamed);
  try {
    const input = agent.toolArguments === undefined ? renamed : agent.toolArguments(name, renamed);
    return { type: 'run', call: { id: requested.id, name, input, ...optionsOfTool(scope, name) } };
  } catch (error) {
    throw new HoldfastError('hook-failed', `toolArguments of agent "${agent.name}" failed: ${messageOf(error)}`);
  }
}

function unknownCall(agent: AgentDefinition, requested: ToolCall, offered: readonly string[]): PlannedCall {
  if (agent.unknownTool !== undefined) {
    try {
      return { type: 'answered', output: agent.unknownTool(requested.name, requested.input) };
    } catch (error) {
      throw new HoldfastError('hook-failed', `unknownTool of agent "${agent.name}" failed: ${messageOf(error)}`);
    }
  }
  const has = offered.length === 0 ? 'It has no tools.' : `It has: ${offered.join(', ')}.`;
  return {
    type: 'refused',
    error: {
      code: 'tool-not-found',
      message: `The model called tool '${requested.name}', which this agent does not have${suggestion(requested.name, offered)} ${has}`,
    },
  };
}

function suggestion(name: string, offered: readonly string[]): string {
  const names = similarNames(name, offered).map((similar) => `"${similar}"`);
  const last = names.pop();
  if (last === undefined) return '.';
  return `; did you mean ${names.length === 0 ? last : `${names.join(', ')} or ${last}`}?`;
}

function exitResult(input: Json): PlannedCall {
  const result = (input as { final_result?: unknown } | null)?.final_result;
  if (typeof result === 'string') return { type: 'answered', output: result };
  return { type: 'refused', error: { code: 'tool-input-invalid', message: "The tool 'exit' takes { final_result: string }." } };
}
