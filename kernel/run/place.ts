import type { AgentPath } from '../../contract/record/agent-paths';
import type { StoredMessage } from '../../contract/messages/messages';
import type { Frame } from '../effects/frames';
import type { RunScope } from './scope';
import type { Progress } from './state';
import type { Branch } from './conversation';
import type { AnyAgent, HistoryRewriter } from '../define/definition';
import { historyFor } from './conversation';
import { forgetEnsured } from './ensured';
import { noteLeft } from './left-agents';

/** Where an agent is to work. */
export interface AgentPlace {
  readonly path: AgentPath;
  readonly frame: Frame;
  /** The conversation that it takes part in. Absent: it is alone in its own. */
  readonly branch?: Branch;
  /** What an agent without a conversation begins with. */
  readonly messages?: () => readonly StoredMessage[];
  /** Whom an agent there may hand over to. Absent: those that it brings itself. */
  readonly neighbours?: Neighbours;
}

/** Whom an agent may hand over to. */
export interface Neighbours {
  readonly children: readonly AnyAgent[];
  readonly parent?: AnyAgent;
}

export function keyOf({ path }: Pick<AgentPlace, 'path'>): string {
  return path.join('/');
}

/** What an agent that begins now begins with. */
export function inputAt(run: RunScope, place: AgentPlace, agent: string, rewriter?: HistoryRewriter): readonly StoredMessage[] {
  return place.branch === undefined ? (place.messages?.() ?? []) : historyFor(run, place.branch, agent, rewriter);
}

/** How far an agent that runs others has come. It goes over a continue-as-new with the run. */
export function recordAt(run: RunScope, place: AgentPlace): Progress {
  const { state } = run;
  const key = keyOf(place);
  state.progress ??= {};
  return (state.progress[key] ??= { at: 0 });
}

export function isEntered({ state }: RunScope, place: AgentPlace): boolean {
  return state.progress?.[keyOf(place)] !== undefined;
}

/** The same of all agents inside of one: they were left at work. */
export function forgetInside({ state, checkpoints, parsed }: RunScope, place: AgentPlace): void {
  const inside = `${keyOf(place)}/`;
  const drop = (values: Record<string, unknown> | undefined): void => {
    for (const key of Object.keys(values ?? {})) if (key.startsWith(inside)) delete values?.[key];
  };
  for (const values of [state.agents, state.runLocal, state.progress, state.actions]) drop(values);
  for (const key of Object.keys(state.ensured ?? {})) if (key.startsWith(inside)) forgetEnsured(state, key);
  if (state.ends !== undefined) state.ends = Object.fromEntries(Object.entries(state.ends).filter(([key]) => !key.startsWith(inside)));
  state.sharedMessages = Object.fromEntries(Object.entries(state.sharedMessages ?? {}).filter(([key]) => !key.startsWith(inside)));
  for (const map of [checkpoints, parsed]) for (const key of map.keys()) if (key.startsWith(inside)) map.delete(key);
}

/** An agent behind the root has ended: nothing of it is needed any more but what it said. */
export function forget(run: RunScope, place: AgentPlace): void {
  place.frame.abandon();
  forgetRecord(run, place);
}

/** An error has ended it: what it had come to is kept for another try. */
export function forgetFailed(run: RunScope, place: AgentPlace): void {
  noteLeft(run, place);
  place.frame.unwind();
  forgetRecord(run, place);
}

function forgetRecord({ state, checkpoints, parsed }: RunScope, place: AgentPlace): void {
  const key = keyOf(place);
  delete state.agents[key];
  delete state.runLocal[key];
  delete state.progress?.[key];
  delete state.actions?.[key];
  forgetEnsured(state, key);
  checkpoints.delete(key);
  parsed.delete(key);
}
