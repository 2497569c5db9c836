import type { AgentPath } from '../../contract/record/agent-paths';
import { longerPath } from '../../contract/record/agent-paths';
import { HoldfastError } from '../../contract/errors';
import { limits } from '../../contract/limits';
import type { RunScope } from '../run/scope';
import type { AgentEnd, AnyAgent } from '../define/definition';
import type { AgentPlace } from '../run/place';
import { keyOf, recordAt } from '../run/place';
import { enterAgent, runAgent } from './run-agent';

interface Member {
  readonly agent: AnyAgent;
  readonly parent?: Member;
}

/** Agents run one after another, so a long conversation leaves no agents open. */
export async function runTeam(run: RunScope, lead: AnyAgent, place: AgentPlace): Promise<AgentEnd> {
  const record = recordAt(run, place);
  const trail = (record.trail ??= [lead.name]);
  let member = memberOf(lead);
  let hops: AgentPath = [];
  for (const name of trail.slice(1)) {
    const next = neighbour(member, name);
    if (next === undefined)
      throw run.journal.change(`The agent "${keyOf(place)}" changed: "${name}" was at work in it, and is not there any more.`);
    member = next;
    hops = longerPath(hops, name);
  }
  for (;;) {
    if (trail.length > 1) run.cancels.at('between', place);
    const checkpoint = run.ports.checkpoint();
    if (checkpoint !== undefined) await checkpoint;
    const isFirst = hops.length === 0;
    const end = await (isFirst ? enterAgent : runAgent)(run, member.agent, placeOf(member, place, hops));
    const { action } = end;
    if (action === undefined || !('transferTo' in action)) return isFirst ? end : endOfMember(end);
    const next = neighbour(member, action.transferTo);
    if (next === undefined) throw transferFailed(action.transferTo, member.agent.name);
    if (trail.length > limits.transfers)
      throw new HoldfastError(
        'transfers-exceeded',
        `The agents of "${keyOf(place)}" handed over to each other ${limits.transfers} times without an answer.`,
      );
    if (isFirst) delete run.state.actions?.[keyOf(place)];
    member = next;
    hops = longerPath(hops, member.agent.name);
    trail.push(member.agent.name);
  }
}

function placeOf({ agent, parent }: Member, place: AgentPlace, hops: AgentPath): AgentPlace {
  const neighbours = { children: childrenOf(agent), ...(parent === undefined ? {} : { parent: parent.agent }) };
  return {
    ...place,
    path: [...place.path, ...hops],
    frame: hops.reduce((frame, segment) => frame.child(segment), place.frame),
    ...(agent.kind === 'chat' ? { neighbours } : {}),
  };
}

function memberOf(agent: AnyAgent, parent?: Member): Member {
  return { agent, ...(parent === undefined || (agent.kind === 'chat' && agent.disallowTransferToParent) ? {} : { parent }) };
}

function childrenOf(agent: AnyAgent): readonly AnyAgent[] {
  return agent.kind === 'chat' ? agent.subAgents : [];
}

function neighbour(member: Member, name: string): Member | undefined {
  const child = childrenOf(member.agent).find((one) => one.name === name);
  if (child !== undefined) return memberOf(child, member);
  return member.parent?.agent.name === name ? member.parent : undefined;
}

/** Outside of the team only an exit counts. */
function endOfMember({ action, ...end }: AgentEnd): AgentEnd {
  return action !== undefined && 'exit' in action ? { ...end, exited: true } : end;
}

/** No agent around the root of a run could take over. */
export function refuseLostTransfer({ action }: AgentEnd, { name }: AnyAgent): void {
  if (action !== undefined && 'transferTo' in action) throw transferFailed(action.transferTo, name);
}

function transferFailed(to: string, from: string): HoldfastError {
  return new HoldfastError('transfer-failed', `transfer failed: agent '${to}' not found when transferring from '${from}'`);
}
