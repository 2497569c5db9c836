import type { StoredMessage } from '../../contract/messages/messages';
import { bareAgent } from '../define/agent';
import { appendShown, runAfterAgent, runAfterFailure, runBeforeAgent } from '../hooks/hooks';
import { observedAgent } from '../hooks/observers';
import type { AgentMiddleware } from '../define/middleware';
import type { AgentScope, RunScope } from '../run/scope';
import type { Progress } from '../run/state';
import { freshRecord, scopeAt } from './chat';
import { historyFor } from '../run/conversation';
import type { AgentEnd, AnyAgent } from '../define/definition';
import type { AgentPlace } from '../run/place';
import { keyOf, recordAt } from '../run/place';
import { errorOf, failureOf, isCancellation, recordedFailure } from '../effects/errors';

export function runAround(run: RunScope, agent: AnyAgent, place: AgentPlace, enter: () => Promise<AgentEnd>): Promise<AgentEnd> {
  const { observers, callbacks } = 'observers' in agent ? agent : { observers: [], callbacks: [] };
  const called =
    callbacks.length === 0 ? enter : (): Promise<AgentEnd> => calledGroup(groupScope(run, agent, callbacks, place), place, enter);
  return observers.length === 0 ? called() : observedAgent(groupScope(run, agent, observers, place), place.frame, called);
}

function groupScope(run: RunScope, agent: AnyAgent, middleware: readonly AgentMiddleware[], place: AgentPlace): AgentScope {
  const bare = { ...bareAgent(agent), middleware };
  const messages = place.branch === undefined ? [] : historyFor(run, place.branch, agent.name, undefined);
  return scopeAt(run, bare, freshRecord(bare, place.path, messages, run.state), place);
}

/** After a continue-as-new no callback runs twice, and an ended agent does not run again while later callbacks wait. */
async function calledGroup(group: AgentScope, place: AgentPlace, enter: () => Promise<AgentEnd>): Promise<AgentEnd> {
  const around = aroundAt(group.run, place);
  const scope: AgentScope = { ...group, isGroup: true };
  const { record } = scope;
  record.values = around.values;
  try {
    if (around.begun !== true) {
      const before = place.frame.child('callbacks:before');
      const answer = await runBeforeAgent(scope, before);
      if (answer?.isNew === true) appendShown(scope, [answer.message], answer.middleware, before);
      before.close();
      if (answer !== undefined) return endOf(answer.message);
      around.values = record.values;
      around.begun = true;
    }
    return await throughEnd(scope, around, place, enter);
  } finally {
    scope.life.end();
  }
}

async function throughEnd(scope: AgentScope, around: Around, place: AgentPlace, enter: () => Promise<AgentEnd>): Promise<AgentEnd> {
  const { agent, record } = scope;
  const isHeard = agent.middleware.some(({ afterAgent, afterFailure }) => (afterAgent ?? afterFailure) !== undefined);
  const after = place.frame.child('callbacks:after');
  let end: AgentEnd;
  try {
    end = keptEnd(around) ?? (await enter());
  } catch (error) {
    if (isCancellation(error)) throw error;
    if (isHeard) around.end ??= { error: recordedFailure(error) };
    throw (await runAfterFailure(scope, failureOf(error), after)) ?? error;
  }
  if (!isHeard) return end;
  around.end ??= { result: end };
  if (end.text !== '') record.messages = [...record.messages, lastWord(place, end.text)];
  await runAfterAgent(scope, after);
  after.close();
  delete around.end;
  return end;
}

type Around = NonNullable<Progress['around']>;

/** Callbacks that were added while the agent was at work count as run. */
function aroundAt(run: RunScope, place: AgentPlace): Around {
  const { state } = run;
  const record = recordAt(run, place);
  const isAtWork = record.at > 0 || (record.next ?? record.branches ?? record.trail ?? state.agents[keyOf(place)]) !== undefined;
  return (record.around ??= { values: state.values, ...(isAtWork ? { begun: true } : {}) });
}

function keptEnd({ end }: Around): AgentEnd | undefined {
  if (end === undefined) return undefined;
  if ('error' in end) throw errorOf(end.error);
  return end.result;
}

function lastWord(place: AgentPlace, text: string): StoredMessage {
  return { id: `${keyOf(place)}:said`, role: 'assistant', parts: [{ type: 'text', text }] };
}

function endOf({ parts }: StoredMessage): AgentEnd {
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  return { output: text, text };
}
