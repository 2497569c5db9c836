import { defined } from '../../contract/defined';
import { runOptionsOf } from '../../contract/run-options';
import { bareAgent } from '../define/agent';
import { ContextLifetime } from '../run/context-lifetime';
import { observedAgent } from '../hooks/observers';
import type { RunScope } from '../run/scope';
import { freshRecord } from './chat';
import { historyFor } from '../run/conversation';
import type { AgentEnd, AgentObserver, AnyAgent } from '../define/definition';
import type { AgentPlace } from '../run/place';

/** Those that look on at the whole of an agent that runs others. An agent that talks to a model has them among its middlewares. */
export function observersOfGroup(agent: AnyAgent): readonly AgentObserver[] {
  return 'observers' in agent ? agent.observers : [];
}

/** An agent that runs others with its observers around it. What they see of the conversation is what it begins with. */
export function observedGroup(run: RunScope, agent: AnyAgent, place: AgentPlace, enter: () => Promise<AgentEnd>): Promise<AgentEnd> {
  const { branch } = place;
  const bare = { ...bareAgent(agent), middleware: observersOfGroup(agent) };
  const messages = branch === undefined ? [] : historyFor(run, branch, agent.name, undefined);
  const record = freshRecord(bare, place.path, messages, run.state);
  const options = runOptionsOf(run.state.options, agent.name);
  const life = new ContextLifetime(run, agent.name);
  return observedAgent({ run, agent: bare, options, path: place.path, record, life, ...defined({ branch }) }, place.frame, enter);
}
