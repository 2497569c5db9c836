import { defined } from '../../contract/defined';
import type { StoredMessage } from '../../contract/messages/messages';
import { runOptionsOf } from '../../contract/run-options';
import { withClientTools } from '../run/client-tools';
import { ContextLifetime } from '../run/context-lifetime';
import { refuseLayersOfExternal } from '../turn/external-calls';
import { keptValue } from '../effects/kept-values';
import { runAgentLoop } from '../turn/loop';
import { agentForRun } from '../run/run-options';
import type { AgentScope, RunScope } from '../run/scope';
import type { AgentRecord, RunState } from '../run/state';
import { exitTool } from '../define/transfer-names';
import { flowActionOf } from '../define/actions';
import type { AgentEnd, AgentDefinition } from '../define/definition';
import type { AgentPlace } from '../run/place';
import { inputAt, keyOf } from '../run/place';
import { withTransfers } from './transfer-tool';
import type { AgentResult } from '../run/agent-result';

export async function runChat(run: RunScope, definition: AgentDefinition, place: AgentPlace): Promise<AgentResult & AgentEnd> {
  const { state } = run;
  const { children, parent } = place.neighbours ?? { children: [] };
  const key = keyOf(place);
  const options = runOptionsOf(state.options, definition.name);
  const agent = withClientTools(withTransfers(agentForRun(definition, options), children, parent, run.manifest.language), run);
  refuseLayersOfExternal(run, agent);
  const record = (state.agents[key] ??= freshRecord(agent, place.path, inputAt(run, place, agent.name, agent.historyRewriter), state));
  renew(agent, record, state);
  const scope = scopeAt(run, agent, record, place);
  let result: AgentResult;
  try {
    result = await runAgentLoop(scope, place.frame);
  } finally {
    scope.life.end();
  }
  if (agent.outputKey !== undefined && result.pendingToolCalls === undefined)
    state.session[agent.outputKey] = keptValue('session', agent.outputKey, result.text);
  const action = flowActionOf(state.actions?.[key]);
  return action === undefined ? result : { ...result, action };
}

function renew({ maxIterations }: AgentDefinition, record: AgentRecord, state: RunState): void {
  const key = record.path.join('/');
  if (state.renewed?.includes(key) !== true) return;
  state.renewed = state.renewed.filter((one) => one !== key);
  record.remaining = maxIterations;
  delete record.toolIterations;
}

export function scopeAt(run: RunScope, agent: AgentDefinition, record: AgentRecord, { path, branch }: AgentPlace): AgentScope {
  const options = runOptionsOf(run.state.options, agent.name);
  return { run, agent, options, path, record, life: new ContextLifetime(run.pace, agent.name), ...defined({ branch }) };
}

export function freshRecord(
  agent: AgentDefinition,
  path: readonly string[],
  messages: readonly StoredMessage[],
  state: RunState,
): AgentRecord {
  const tools = agent.exitTool ? [...agent.tools, exitTool] : agent.tools;
  return {
    path,
    turn: 0,
    remaining: agent.maxIterations,
    instructions: agent.instructions,
    tools,
    callable: tools,
    returnDirectly: agent.returnDirectly,
    values: state.values,
    messages,
  };
}
