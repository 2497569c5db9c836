import { runOptionsOf } from '../../contract/plain/run-options';
import { bareAgent } from '../agent';
import { AgentLife } from '../agent-life';
import { observedAgent } from '../observers';
import type { RunScope } from '../scope';
import { freshRecord } from './chat';
import { historyFor } from './conversation';
import type { AgentEnd, AgentObserver, AnyAgent } from './definition';
import type { Place } from './place';

/** Those that look on at the whole of an agent that runs others. An agent that talks to a model has them among its middlewares. */
export function observersOfGroup(agent: AnyAgent): readonly AgentObserver[] {
  return 'observers' in agent ? agent.observers : [];
}

/** An agent that runs others with its observers around it. What they see of the conversation is what it begins with. */
export function observedGroup(run: RunScope, agent: AnyAgent, place: Place, enter: () => Promise<AgentEnd>): Promise<AgentEnd> {
  const { lane } = place;
  const bare = { ...bareAgent(agent), middleware: observersOfGroup(agent) };
  const messages = lane === undefined ? [] : historyFor(run, lane, agent.name, undefined);
  const record = freshRecord(bare, place.path, messages, run.state);
  const options = runOptionsOf(run.state.options, agent.name);
  const life = new AgentLife(run, agent.name);
  return observedAgent(
    { run, agent: bare, options, path: place.path, record, life, ...(lane === undefined ? {} : { lane }) },
    place.frame,
    enter,
  );
}

const functions = ['onStart', 'onEnd', 'onError'];

/** Refuses what does more than look on, or nothing at all. */
export function checkedObservers(observers: unknown, refuse: (problem: string) => never): readonly AgentObserver[] {
  if (observers === undefined) return [];
  if (!Array.isArray(observers)) return refuse('observers are a list.');
  const names = new Set<string>();
  for (const [position, observer] of (observers as readonly unknown[]).entries()) {
    const { name, ...others } = (observer ?? {}) as Record<string, unknown>;
    const entry = `entry ${position + 1} of its observers`;
    if (typeof name !== 'string' || name === '') return refuse(`${entry} has no name; every observer needs one.`);
    if (names.has(name)) return refuse(`two of its observers are named "${name}".`);
    names.add(name);
    const given = Object.keys(others).filter((field) => others[field] !== undefined);
    const other = given.find((field) => !functions.includes(field) || typeof others[field] !== 'function');
    if (other !== undefined)
      return refuse(`${entry} has "${other}"; an observer has the functions ${functions.join(', ')} and nothing else.`);
    if (given.length === 0) return refuse(`${entry} has none of ${functions.join(', ')}.`);
  }
  return observers as readonly AgentObserver[];
}
