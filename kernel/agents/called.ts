import { defined } from '../../contract/defined';
import type { StoredMessage } from '../../contract/messages/messages';
import { runOptionsOf } from '../../contract/run-options';
import { bareAgent } from '../define/agent';
import { ContextLifetime } from '../run/context-lifetime';
import { appendShown, runAfterAgent, runAfterFailure, runBeforeAgent } from '../hooks/hooks';
import type { AgentMiddleware } from '../define/middleware';
import type { AgentScope, RunScope } from '../run/scope';
import type { Progress } from '../run/state';
import { freshRecord } from './chat';
import { historyFor } from '../run/conversation';
import type { AgentEnd, AnyAgent } from '../define/definition';
import type { AgentPlace } from '../run/place';
import { keyOf, recordAt } from '../run/place';
import { errorOf, failureOf, isCancellation, recordedFailure } from '../effects/errors';

export function callbacksOfGroup(agent: AnyAgent): readonly AgentMiddleware[] {
  return 'callbacks' in agent ? agent.callbacks : [];
}

/**
 * An agent that runs others, with its callbacks around it. If a callback answers, neither the agent nor later callbacks run. After a continue-as-new
 * nothing runs again: not the callbacks before the agent, and not the agent while the callbacks after the agent wait.
 */
export async function calledGroup(run: RunScope, agent: AnyAgent, place: AgentPlace, enter: () => Promise<AgentEnd>): Promise<AgentEnd> {
  const { branch, frame } = place;
  const around = aroundAt(run, place);
  const bare = { ...bareAgent(agent), middleware: callbacksOfGroup(agent) };
  const messages = branch === undefined ? [] : historyFor(run, branch, agent.name, undefined);
  const record = { ...freshRecord(bare, place.path, messages, run.state), values: around.values };
  const life = new ContextLifetime(run, agent.name);
  const options = runOptionsOf(run.state.options, agent.name);
  const scope: AgentScope = {
    ...{ run, agent: bare, options, path: place.path, record, life, isGroup: true },
    ...defined({ branch }),
  };
  try {
    if (around.begun !== true) {
      // No agent has a name with a colon, so no inner agent has a frame of this name.
      const before = frame.child('callbacks:before');
      const answer = await runBeforeAgent(scope, before);
      if (answer?.isNew === true) appendShown(scope, [answer.message], answer.middleware, before);
      before.close();
      if (answer !== undefined) return endOf(answer.message);
      around.values = record.values;
      around.begun = true;
    }
    return await throughEnd(scope, around, place, enter);
  } finally {
    life.end();
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

/** Of an agent that was at work before it had callbacks, the callbacks before it count as run. */
function aroundAt(run: RunScope, place: AgentPlace): Around {
  const { state } = run;
  const record = recordAt(run, place);
  const isAtWork = record.at > 0 || (record.next ?? record.branches ?? record.trail ?? state.agents[keyOf(place)]) !== undefined;
  return (record.around ??= { values: state.values, ...(isAtWork ? { begun: true } : {}) });
}

/** Throws if the agent has failed. Undefined: the agent has not ended. */
function keptEnd({ end }: Around): AgentEnd | undefined {
  if (end === undefined) return undefined;
  if ('error' in end) throw errorOf(end.error);
  return end.result;
}

/** The response for callbacks after the agent. No transcript has the message. */
function lastWord(place: AgentPlace, text: string): StoredMessage {
  return { id: `${keyOf(place)}:said`, role: 'assistant', parts: [{ type: 'text', text }] };
}

function endOf({ parts }: StoredMessage): AgentEnd {
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  return { output: text, text };
}
