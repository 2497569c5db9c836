import { HoldfastError } from '../../contract/errors';
import type { ToolCall } from '../../contract/messages/messages';
import { isExternalTool } from '../calls/external-tool-call';
import type { AgentDefinition } from '../define/definition';
import { heldTools } from '../define/named-tools';
import type { AgentScope, RunScope } from '../run/scope';
import type { NamedCall } from '../run/tool-names';
import { planCall } from './tool-plan';

export interface SplitCalls {
  readonly own: readonly NamedCall[];
  readonly external: readonly ToolCall[];
}

/** A conversation waits for external calls; other runs end with the calls. */
export function splitCalls(scope: AgentScope, calls: readonly NamedCall[]): SplitCalls {
  const isExternal = ({ name }: NamedCall): boolean => isExternalTool(scope, name);
  const external = calls.filter(isExternal);
  if (external.length === 0 || scope.run.inbox !== undefined) return { own: calls, external: [] };
  if (scope.path.length > 1 || scope.run.state.parent !== undefined) throw notAlone(scope.agent, external);
  return { own: calls.filter((call) => !isExternal(call)), external: external.map((call) => asPlanned(scope, call)) };
}

function asPlanned(scope: AgentScope, call: NamedCall): ToolCall {
  const planned = planCall(scope, call);
  return planned.type === 'run' ? planned.call : { id: call.id, name: call.name, input: call.input };
}

function notAlone({ name }: AgentDefinition, calls: readonly ToolCall[]): HoldfastError {
  const tools = [...new Set(calls.map((call) => `'${call.name}'`))].join(', ');
  return new HoldfastError(
    'agent-invalid',
    `Agent "${name}" calls ${tools}: external tools belong to the agent that a run is started with, as its caller makes their calls.`,
  );
}

/** Layers do not see external calls, so a layer that names such a tool would guard nothing. */
export function refuseLayersOfExternal({ manifest }: Pick<RunScope, 'manifest'>, { name, middleware }: AgentDefinition): void {
  for (const layer of middleware) {
    const tool = (heldTools(layer, manifest) ?? []).find((named) => manifest.tools[named]?.external === true);
    if (tool === undefined) continue;
    throw new HoldfastError(
      'agent-invalid',
      `Agent "${name}": the middleware "${layer.name}" names the tool "${tool}", which is external: its calls are made outside of the run, where no middleware sees them.`,
    );
  }
}
