import type { AgentPath } from '../../contract/record/agent-paths';
import type { Json, StoredMessage } from '../../contract/messages/messages';
import type { Frame } from '../effects/frames';
import { flowActionOf } from '../define/actions';
import type { AgentScope, Branch, RunScope } from './scope';
import type { Progress } from './state';
import { takeOut } from './state';
import type { AnyAgent } from '../define/definition';
import type { HistoryRewriter } from '../define/agent-options';
import { historyFor } from './conversation';

export interface AgentPlace {
  readonly path: AgentPath;
  readonly frame: Frame;
  readonly branch?: Branch;
  readonly messages?: () => readonly StoredMessage[];
  /** Agents to hand over to. Absent: the sub-agents of the definition. */
  readonly neighbours?: { readonly children: readonly AnyAgent[]; readonly parent?: AnyAgent };
}

export function keyOf({ path }: Pick<AgentPlace, 'path'>): string {
  return path.join('/');
}

export function inputAt(run: RunScope, place: AgentPlace, agent: string, rewriter?: HistoryRewriter): readonly StoredMessage[] {
  return place.branch === undefined ? (place.messages?.() ?? []) : historyFor(run, place.branch, agent, rewriter);
}

export function recordAt(run: RunScope, place: AgentPlace): Progress {
  const { state } = run;
  const key = keyOf(place);
  state.progress ??= {};
  return (state.progress[key] ??= { at: 0 });
}

export function isEntered({ state }: RunScope, place: AgentPlace): boolean {
  return state.progress?.[keyOf(place)] !== undefined;
}

export function forgetInside({ state, checkpoints, parsed }: RunScope, place: AgentPlace): void {
  const inside = `${keyOf(place)}/`;
  const drop = (values: Record<string, unknown> | undefined): void => {
    for (const key of Object.keys(values ?? {})) if (key.startsWith(inside)) delete values?.[key];
  };
  for (const values of [state.agents, state.runLocal, state.progress, state.actions]) drop(values);
  for (const key of Object.keys(state.ensured ?? {})) if (key.startsWith(inside)) takeOut(state, 'ensured', key);
  if (state.ends !== undefined) state.ends = Object.fromEntries(Object.entries(state.ends).filter(([key]) => !key.startsWith(inside)));
  state.sharedMessages = Object.fromEntries(Object.entries(state.sharedMessages ?? {}).filter(([key]) => !key.startsWith(inside)));
  for (const map of [checkpoints, parsed]) for (const key of map.keys()) if (key.startsWith(inside)) map.delete(key);
}

export function forget(run: RunScope, place: AgentPlace): void {
  place.frame.abandon();
  forgetRecord(run, place);
}

/** The first note wins, because the note is nearest to the error. */
export function noteLeft({ state, checkpoints, leftAgents }: RunScope, { path, frame }: Pick<AgentPlace, 'path' | 'frame'>): void {
  const key = keyOf({ path });
  const { [key]: record = undefined } = state.agents;
  const now: Record<string, unknown> = {
    record: checkpoints.get(key) ?? record,
    progress: state.progress?.[key],
    runLocal: state.runLocal[key],
    action: state.actions?.[key],
    ensured: state.ensured?.[key],
    sharedMessages: state.sharedMessages?.[key],
  };
  const before = leftAgents.get(frame.key);
  const known = Object.fromEntries(Object.entries(now).filter(([, value]) => value !== undefined));
  leftAgents.set(frame.key, { ...known, ...before, key });
}

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
  takeOut(state, 'ensured', key);
  checkpoints.delete(key);
  parsed.delete(key);
}

export function noteAction({ run: { state }, path }: AgentScope, action: Json | undefined): void {
  if (action !== undefined && flowActionOf(action) !== undefined) state.actions = { ...state.actions, [path.join('/')]: action };
}
