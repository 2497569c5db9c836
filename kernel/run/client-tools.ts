import type { SentMessage } from '../../contract/conversations';
import { takenTogether, takesTool, untakenText, untakenTool } from '../../contract/client-tools';
import { HoldfastError } from '../../contract/errors';
import type { Manifest, ToolSpec } from '../../contract/manifest';
import type { Failure } from '../../contract/messages/messages';
import type { AnyAgent, OwnTool, AgentDefinition } from '../define/definition';
import { isChat, reachable } from '../define/definition';
import { exitTool, transferTool } from '../define/transfer-names';
import { parsedBy } from '../define/workflow-tools';
import type { RunScope } from './scope';
import { nameAmong } from './tool-names';

export function unfitIn(root: AnyAgent | undefined, lacks: Failure | undefined): (sent: SentMessage) => Failure | undefined {
  return root === undefined ? () => lacks : (sent) => untakenTools(root, sent);
}

function untakenTools(root: AnyAgent, { tools = [] }: SentMessage): Failure | undefined {
  if (tools.length === 0) return undefined;
  const agents = reachable(root).filter(isChat);
  const taken = takenTogether(agents.map(({ clientTools }) => clientTools));
  const tool = untakenTool(
    tools,
    taken,
    agents.flatMap((agent) => agent.tools),
  );
  return tool === undefined ? undefined : { code: 'client-tools-refused', message: untakenText(tool, root.name, taken) };
}

/** The tools of the last message with tools, whose sender makes the calls. Worker tools win, so their calls never leave the run. */
export function toolsForTurn(
  messages: readonly Pick<SentMessage, 'tools'>[],
  { tools }: Pick<Manifest, 'tools'>,
): readonly ToolSpec[] | undefined {
  const brought = messages.flatMap((message) => (message.tools === undefined ? [] : [message.tools])).at(-1);
  const others = brought?.filter(({ name }) => !Object.hasOwn(tools, name)) ?? [];
  return others.length === 0 ? undefined : others;
}

export function withClientTools(agent: AgentDefinition, { inbox }: Pick<RunScope, 'inbox'>): AgentDefinition {
  const { clientTools: taken } = agent;
  const isOwn = (name: string): boolean =>
    name === exitTool || name === transferTool || nameAmong(agent, name, [...agent.tools, ...agent.ownTools.keys()]) !== undefined;
  const tools = (inbox?.state.clientTools ?? []).filter(({ name }) => takesTool(taken, name) && !isOwn(name));
  if (tools.length === 0) return agent;
  return {
    ...agent,
    tools: [...agent.tools, ...tools.map(({ name }) => name)],
    ownTools: new Map([...agent.ownTools, ...tools.map((spec) => [spec.name, ofClient(spec)] as const)]),
  };
}

function ofClient(spec: ToolSpec): OwnTool {
  const run = (): Promise<never> =>
    Promise.reject(new HoldfastError('internal', `The run has made a call of "${spec.name}", which is a tool of its client.`));
  return { spec, isOfClient: true, parse: (input) => parsedBy(spec, input), run };
}
