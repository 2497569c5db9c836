import type { SentMessage } from '../../contract/conversations';
import { takenTogether, takesTool, untakenText, untakenTool } from '../../contract/client-tools';
import { HoldfastError } from '../../contract/errors';
import type { Manifest, ToolSpec } from '../../contract/manifest';
import type { Failure } from '../../contract/messages/messages';
import type { AgentDefinition } from '../define/agent';
import type { AnyAgent } from '../define/definition';
import { isChat, reachable } from '../define/definition';
import { exitTool, transferTool } from '../define/transfer-names';
import type { OwnTool } from '../define/workflow-tools';
import { parsedBy } from '../define/workflow-tools';
import type { RunScope } from './scope';
import { nameAmong } from './tool-names';

/** Why a conversation does not take a message: there is nobody to answer it, or it brings a tool that none of its agents takes. */
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

/**
 * What a turn begins with of the tools that its messages bring: those of the last one that brings any, whose sender is the one to make the calls.
 * A name that a worker has is its own, so that no call of it ever leaves the run.
 */
export function toolsForTurn(
  messages: readonly Pick<SentMessage, 'tools'>[],
  { tools }: Pick<Manifest, 'tools'>,
): readonly ToolSpec[] | undefined {
  const brought = messages.flatMap((message) => (message.tools === undefined ? [] : [message.tools])).at(-1);
  const others = brought?.filter(({ name }) => !Object.hasOwn(tools, name)) ?? [];
  return others.length === 0 ? undefined : others;
}

/** The agent with the tools of the turn's client that it takes. What it has itself under a name, or by an alias, comes first. */
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
