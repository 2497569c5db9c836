import { hiddenModelCall } from '../../contract/record/agent-paths';
import { HoldfastError } from '../../contract/errors';
import { toolFactsOf } from '../../contract/manifest';
import type { Json } from '../../contract/messages/messages';
import { isExternalTool } from '../calls/external-tool-call';
import { callModelOnce, requestSlots } from '../calls/model-call';
import { specsOf } from '../define/workflow-tools';
import { callToolOnce } from '../calls/tool-call';
import type { HookContext, ModelResponse } from '../define/middleware';
import type { Frame } from '../effects/frames';
import { checkedValue } from '../effects/kept-values';
import { storedMessages } from '../effects/transcript';
import { optionsOfTool } from '../run/run-options';
import type { AgentScope } from '../run/scope';

/** A tool call of a hook, without transcript and log. */
export async function callHidden(scope: AgentScope, frame: Frame, tool: string, input: Json): Promise<unknown> {
  const { run, path, record } = scope;
  if (!Object.hasOwn(run.manifest.tools, tool)) throw new HoldfastError('tool-unknown', `ctx.call("${tool}"): no worker has this tool.`);
  if (isExternalTool(scope, tool)) throw new HoldfastError('tool-unknown', `ctx.call("${tool}"): the tool is external; no worker runs it.`);
  const address = `${path.join('/')}/t${record.turn}/call.${tool}`;
  const key = frame.address.join('/');
  if (toolFactsOf(run.manifest, tool).effect === 'once') run.onceCalls.set(key, tool);
  const done = await callToolOnce(scope, frame, {
    address,
    key,
    call: { id: key, name: tool, input: checkedValue('call', tool, input), ...optionsOfTool(scope, tool) },
    hidden: true,
  });
  return done.output;
}

/** A model call of a hook, without transcript. Its tokens count. */
export function callOther(scope: AgentScope, name: string, request: Parameters<HookContext['model']>[1]): Promise<ModelResponse> {
  const { run, path, record } = scope;
  const address = run.uniqueAddress(`${path.join('/')}/t${record.turn}/ctx.model`);
  const messages = storedMessages(request.messages, record.messages, () => run.ports.uuid(), 'ctx.model');
  const { catalog } = request;
  const { ownTools } = scope.agent;
  const missing = catalog?.find((tool) => !Object.hasOwn(run.manifest.tools, tool) && !ownTools.has(tool));
  if (missing !== undefined)
    throw new HoldfastError('tool-unknown', `ctx.model: the catalog names the tool "${missing}", which no worker has.`);
  const slots = requestSlots(scope.agent, {
    instructions: request.instructions ?? '',
    tools: [],
    model: name,
    settings: request.settings,
    retries: request.retry === false ? 'kernel' : undefined,
    specs: catalog && specsOf(scope.agent, run.manifest, catalog),
    catalog,
  });
  return callModelOnce(scope, { address, path: [...path, hiddenModelCall], messages, slots });
}
