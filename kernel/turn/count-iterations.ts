import { HoldfastError } from '../../contract/errors';
import type { ModelSettings, ToolCall } from '../../contract/messages/messages';
import type { AgentDefinition } from '../define/definition';
import type { AgentScope } from '../run/scope';

/** Counts before the iteration, even if a hook or layer answers. */
export function countIteration({ agent, record }: AgentScope): void {
  if (record.remaining <= 0) throw iterationsExceeded(agent);
  record.remaining -= 1;
}

export function countToolIteration({ agent, record }: AgentScope): void {
  if (agent.maxToolIterations === undefined) return;
  const before = record.toolIterations ?? 0;
  if (before >= agent.maxToolIterations) throw toolIterationsExceeded(agent, 'The model calls tools once more; none of them ran.');
  record.toolIterations = before + 1;
}

/** The limit of model calls goes first, because it allows no further call. */
export function finalInstructionOf({ agent, record }: AgentScope): string | undefined {
  const { iterations, toolIterations } = agent.finalize;
  if (record.remaining === 0 && iterations !== undefined) return iterations;
  if (agent.maxToolIterations === undefined || (record.toolIterations ?? 0) < agent.maxToolIterations) return undefined;
  return toolIterations;
}

/** Even a layer may not put calls into a final answer. */
export function refuseCallsInFinalAnswer(scope: AgentScope, calls: readonly ToolCall[]): void {
  if (finalInstructionOf(scope) === undefined) return;
  const { agent, record } = scope;
  const names = [...new Set(calls.map(({ name }) => `'${name}'`))].join(', ');
  const why = `The model was asked for its answer, without tools, and calls ${names}.`;
  throw record.remaining === 0 && agent.finalize.iterations !== undefined
    ? iterationsExceeded(agent, why)
    : toolIterationsExceeded(agent, why);
}

export function withoutToolChoice({ toolChoice: _, ...settings }: ModelSettings): ModelSettings {
  return settings;
}

function iterationsExceeded({ name, maxIterations }: AgentDefinition, why?: string): HoldfastError {
  const what = `max LLM calls (${maxIterations}) exceeded`;
  return new HoldfastError(
    'max-iterations',
    why === undefined
      ? `Agent "${name}" exceeds max iterations: the model was called ${maxIterations} times without a final answer, ${what}.`
      : `Agent "${name}" exceeds max iterations: ${what}. ${why}`,
  );
}

function toolIterationsExceeded({ name, maxToolIterations }: AgentDefinition, why: string): HoldfastError {
  return new HoldfastError(
    'max-tool-iterations',
    `Agent "${name}" has no answer after its tools: max tool iterations (${maxToolIterations}) exceeded. ${why}`,
  );
}
