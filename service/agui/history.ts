import { isShown } from '../../contract/record/agent-paths';
import { defined } from '../../contract/defined';
import type { RunEvent } from '../../contract/events';
import type { StoredMessage } from '../../contract/messages/messages';
import { messagesOfInput, textOf, toolCallsOf } from '../../contract/messages/messages';
import { Projection } from '../projection/projection';
import type { ShownStep } from '../projection/steps';
import { resultOf } from '../projection/content';
import { contentOf } from './content';
import type { AguiEvent, AguiMessage } from './events';
import { clientIdOf } from './message-ids';

interface ThreadHistory {
  readonly messages: readonly AguiMessage[];
  /** The last snapshot of the state, and the deltas since. */
  readonly state: readonly AguiEvent[];
}

export function historyOf(log: readonly RunEvent[]): ThreadHistory {
  const projection = new Projection();
  const messages: AguiMessage[] = [];
  let state: AguiEvent[] = [];
  for (const event of log) {
    for (const step of projection.take(event)) {
      // A message that was sent again keeps its id for the client.
      messages.push(...messagesOf(step).filter(({ id, role }) => role !== 'user' || !messages.some((one) => one.id === id)));
      const changed = step.step === 'event' ? stateEventOf(step.event) : undefined;
      if (changed !== undefined) state = changed.type === 'STATE_SNAPSHOT' ? [changed] : [...state, changed];
    }
  }
  return { messages, state };
}

function messagesOf(step: ShownStep): readonly AguiMessage[] {
  if (step.step === 'event') return messagesOfEvent(step.event);
  if (!isShown(step.runPath)) return [];
  if (step.step === 'message') return answerOf(step.id, step.message);
  if (step.step !== 'result') return [];
  const { content, isError } = resultOf(step.message);
  return [{ id: step.message.id, role: 'tool', toolCallId: step.callId, content, ...(isError ? { error: content } : {}) }];
}

function messagesOfEvent(event: RunEvent): readonly AguiMessage[] {
  if (event.type === 'message') {
    const { id, message, by } = event;
    return [{ id: clientIdOf(id), role: 'user', content: contentOf(message), ...defined({ name: by }) }];
  }
  if (event.type !== 'run-start') return [];
  return (messagesOfInput(event.input) ?? []).flatMap((message): readonly AguiMessage[] => {
    const { id, role } = message;
    if (role === 'user') return [{ id, role, content: contentOf(message) }];
    if (role === 'system') return [{ id, role, content: textOf(message) }];
    return role === 'assistant' ? answerOf(id, message) : [];
  });
}

function answerOf(id: string, message: StoredMessage): readonly AguiMessage[] {
  const reasoning = message.parts.reduce((text, part) => (part.type === 'reasoning' ? text + part.text : text), '');
  const content = textOf(message);
  const toolCalls = toolCallsOf(message).map(({ id: callId, name, input }) => ({
    id: callId,
    type: 'function' as const,
    function: { name, arguments: JSON.stringify(input) },
  }));
  const said = { ...(content === '' ? {} : { content }), ...(toolCalls.length === 0 ? {} : { toolCalls }) };
  return [
    ...(reasoning === '' ? [] : [{ id: reasoningIdOf(id), role: 'reasoning' as const, content: reasoning }]),
    ...(Object.keys(said).length === 0 ? [] : [{ id, role: 'assistant' as const, ...said }]),
  ];
}

/** Reasoning is a separate message in AG-UI. */
export function reasoningIdOf(id: string): string {
  return `${id}.reasoning`;
}

export function stateEventOf(event: RunEvent): Extract<AguiEvent, { type: 'STATE_SNAPSHOT' | 'STATE_DELTA' }> | undefined {
  if (event.type !== 'custom') return undefined;
  if (event.name === 'state-snapshot') return { type: 'STATE_SNAPSHOT', snapshot: event.data };
  return event.name === 'state-delta' && Array.isArray(event.data) ? { type: 'STATE_DELTA', delta: event.data } : undefined;
}
