import { defined } from '../../contract/defined';
import type { AgentPath } from '../../contract/record/agent-paths';
import type { EventBody } from '../../contract/events';
import { childRunId, placeInRoot } from '../../contract/record/child-runs';
import type { ChildUsage } from '../../contract/usage';
import { addUsage, addUsageByModel, lessUsage, lessUsageByModel, noUsage, unpackByModel } from '../../contract/usage';
import type { Failure, Json, StoredMessage } from '../../contract/messages/messages';
import { textOf } from '../../contract/messages/messages';
import type { RunOptions } from '../../contract/run-options';
import type { StartInput } from '../../contract/record/wire';
import type { ChildEnd } from '../run/ports';
import type { RunScope } from '../run/scope';
import { authorOfTurn, starterOf, writersOf } from '../run/state';
import { cancelled } from '../run/cancel-plan';
import { ChildInterrupts } from './child-interrupts';
import { isOthers, append } from '../run/conversation';
import type { AnyAgent } from '../define/definition';
import { placeInside, reachable } from '../define/definition';
import type { AgentPlace } from '../run/place';
import { forget, isEntered, recordAt } from '../run/place';
import { failureOf, isCancellation } from '../effects/errors';
import type { FailedChild } from '../effects/remains';

export async function runIsolated(
  run: RunScope,
  agent: AnyAgent,
  place: Pick<AgentPlace, 'path' | 'frame' | 'branch'>,
  messages: () => readonly StoredMessage[],
): Promise<ChildEnd> {
  const { state, ports } = run;
  // The last chance for a continue-as-new before all isolated agents have ended.
  const checkpoint = ports.checkpoint();
  if (checkpoint !== undefined) await checkpoint;
  const id = childRunId(state.id, place.path);
  const about = { agent: agent.name, runPath: place.path, run: id };
  if (!isEntered(run, place)) {
    recordAt(run, place);
    ports.emit({ type: 'agent-start', ...about });
  }
  const interrupts = new ChildInterrupts(run, id, place.path);
  const { [id]: usedBefore, ...otherCuts } = state.cut ?? {};
  const leaves = run.cancels.enters();
  const end = await endOf(run, {
    place: place.path.join('/'),
    start: startOf(run, agent, { id, path: place.path }, messages()),
    hear: (events, withEnd) => interrupts.hear(events, withEnd),
    ...(usedBefore === undefined ? {} : { resumes: true as const }),
  });
  interrupts.close();
  forget(run, place);
  if (usedBefore !== undefined) state.cut = otherCuts;
  const used = end.usage === undefined ? {} : usedSince(end.usage, usedBefore);
  if (used.usage !== undefined) state.usage = addUsage(state.usage, used.usage);
  if (used.usageByModel !== undefined) state.usageByModel = addUsageByModel(state.usageByModel, used.usageByModel);
  if ('failed' in end) {
    const { code, message } = end.failed;
    const failed: Failure = { code, message: `The agent '${agent.name}' failed: ${message}` };
    ports.emit({ type: 'agent-end', ...about, ...used, error: failed });
    leaves();
    const child = { id, usage: end.usage ?? usedBefore ?? nothingUsed };
    // The usage counts even if the agent was cancelled with the run.
    if (ports.cancelled || (code === 'child-cancelled' && run.cancels.isRecursive)) {
      state.cut = { ...state.cut, [id]: child.usage };
      run.cancels.endedBelow();
      throw cancelled();
    }
    keepForRetry(run, place.frame.key, end, child);
    return { ...end, failed };
  }
  leaves();
  const { branch } = place;
  if (branch !== undefined && end.text !== '') {
    const message: StoredMessage = { id: ports.uuid(), role: 'assistant', parts: [{ type: 'text', text: end.text }] };
    ports.emit({ type: 'agent-message', agent: agent.name, runPath: place.path, message });
    append(run, branch, agent.name, message);
  }
  ports.emit({ type: 'agent-end', ...about, ...used });
  return end;
}

const nothingUsed: ChildUsage = { ...noUsage, byModel: {} };

function usedSince(
  now: ChildUsage,
  before: ChildUsage = nothingUsed,
): Pick<Extract<EventBody, { type: 'agent-end' }>, 'usage' | 'usageByModel'> {
  const { byModel, ...all } = now;
  const { byModel: earlier, ...allEarlier } = before;
  const usage = lessUsage(all, allEarlier);
  return { usage, usageByModel: lessUsageByModel(unpackByModel(all, byModel), unpackByModel(allEarlier, earlier)) };
}

/** After an uncaught failure, a retry of the run resumes the isolated agent. */
function keepForRetry(
  { journal: { remains } }: RunScope,
  frame: string,
  { kept }: Extract<ChildEnd, { readonly failed: Failure }>,
  child: FailedChild,
): void {
  if (kept === true) return remains.cutOff(frame, child);
  remains.lose(
    frame,
    `"${child.id}", an isolated agent of it, failed${kept === undefined ? ' and kept nothing to go on from' : `: ${kept.refused}`}`,
  );
}

async function endOf({ ports }: RunScope, child: Parameters<RunScope['ports']['runChild']>[0]): Promise<ChildEnd> {
  try {
    return await ports.runChild(child);
  } catch (error) {
    if (isCancellation(error)) throw error;
    return { failed: failureOf(error) };
  }
}

/** The histories of both runs have the input. */
function startOf(
  { state, manifest, exported }: RunScope,
  agent: AnyAgent,
  { id, path }: { readonly id: string; readonly path: AgentPath },
  messages: readonly StoredMessage[],
): StartInput {
  const nth = placeInside(exported, agent);
  const options = optionsFor(agent, state.options);
  const context = [...messages.keys()].filter((position) => isOthers(state, messages[position]));
  return {
    version: 1,
    tenant: state.tenant,
    id,
    agent: agent.name,
    input: inputOf(messages),
    stream: state.stream,
    language: manifest.language,
    parent: {
      id: state.id,
      from: exported.name,
      ...(nth === 0 ? {} : { nth }),
      path: placeInRoot(state.parent, path),
      ...(context.length === 0 ? {} : { context }),
      ...defined({ writers: writersOf(state), author: authorOfTurn(state) }),
    },
    ...(Object.keys(state.values).length === 0 ? {} : { values: state.values }),
    ...(Object.keys(options).length === 0 ? {} : { options }),
    ...defined({ tags: state.tags, settings: state.settings, model: state.model }),
    ...starterOf(state),
    ...(Object.keys(state.session).length === 0 ? {} : { session: state.session }),
  };
}

function inputOf(messages: readonly StoredMessage[]): Json {
  const [only] = messages;
  const [part] = only?.parts ?? [];
  if (messages.length === 1 && only?.role === 'user' && only.parts.length === 1 && part?.type === 'text' && isPlain(only, part))
    return textOf(only);
  return messages.map(({ id: _, ...message }) => message) as readonly object[] as Json;
}

function isPlain(message: object, part: object): boolean {
  return Object.keys(message).every((key) => key === 'id' || key === 'role' || key === 'parts') && Object.keys(part).length === 2;
}

/** The isolated run would refuse options for other agents. */
function optionsFor(agent: AnyAgent, options: RunOptions): RunOptions {
  if (options.agents === undefined) return options;
  const names = new Set(reachable(agent).map(({ name }) => name));
  const { agents, ...others } = options;
  const kept = Object.entries(agents).filter(([name]) => names.has(name));
  return kept.length === 0 ? others : { ...others, agents: Object.fromEntries(kept) };
}
