import { isRecord } from '../../contract/check';
import { defined } from '../../contract/defined';
import type { RunEvent } from '../../contract/events';
import { messagesOfInput } from '../../contract/messages/messages';
import type { Json, Message } from '../../contract/messages/messages';
import { Projection } from '../projection/projection';
import { urlOf } from '../projection/content';
import { UiFrames } from './frames';
import type { MessageFacts, UiPart, Shows } from './parts';
import { messageIdOf } from './turn-stream';

interface UiMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  metadata: { readonly holdfast: MessageFacts };
  readonly parts: Record<string, unknown>[];
}

export function uiMessages(run: string, log: readonly RunEvent[], shows: Shows): readonly UiMessage[] {
  const messages: UiMessage[] = [];
  let [projection, frames, turn, made] = [new Projection(), new UiFrames(), 0, undefined as UiMessage | undefined];
  const say = (id: string, { role, parts }: Message, by?: string): void => {
    if (role === 'user' || role === 'assistant')
      messages.push({ id, role, metadata: { holdfast: { run, turn, ...defined({ by }) } }, parts: partsOf(parts) });
  };
  for (const event of log) {
    if (event.type === 'run-start') for (const message of messagesOfInput(event.input) ?? []) say(message.id, message);
    if (event.type === 'turn-start') [projection, frames, turn, made] = [new Projection(), new UiFrames(), event.turn, undefined];
    if (event.type === 'message') say(event.id, event.message, event.by);
    if (event.type === 'interrupt-end') decided(made, event);
    for (const step of projection.take(event))
      for (const part of frames.take(step)) {
        if (made === undefined)
          messages.push((made = { id: messageIdOf(turn), role: 'assistant', metadata: { holdfast: { run, turn } }, parts: [] }));
        const shown = shows(part);
        if (shown !== undefined) put(made.parts, shown);
      }
    const usage = event.type === 'turn-end' ? (event.usage as unknown as Json) : undefined;
    if (made !== undefined) made.metadata = { holdfast: { run, turn, offset: (event.offset ?? 0) + 1, ...defined({ usage }) } };
    if (event.type === 'turn-end') made = undefined;
  }
  return messages;
}

function partsOf(parts: Message['parts']): Record<string, unknown>[] {
  return parts.flatMap((part): readonly Record<string, unknown>[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }];
    return part.type === 'file' ? [{ type: 'file', mediaType: part.mediaType, url: urlOf(part) }] : [];
  });
}

function decided(message: UiMessage | undefined, { interruptId, answer }: Extract<RunEvent, { type: 'interrupt-end' }>): void {
  const call = message?.parts.find(({ approval }) => isRecord(approval) && approval['id'] === interruptId);
  if (call === undefined) return;
  const approved = !isRecord(answer) ? undefined : answer['type'] !== 'reject';
  const reason = approved === false && isRecord(answer) ? (answer['feedback'] as string | undefined) : undefined;
  if (approved === undefined) Object.assign(call, { state: 'input-available', approval: undefined });
  else Object.assign(call, { state: 'approval-responded', approval: { id: interruptId, approved, ...defined({ reason }) } });
}

/** As AI SDK's client does. The log has only whole texts. */
function put(parts: Record<string, unknown>[], part: UiPart): void {
  const last = parts.at(-1);
  const id = 'toolCallId' in part ? part.toolCallId : undefined;
  let call = parts.find(({ toolCallId }) => id !== undefined && toolCallId === id);
  if ('toolName' in part && call === undefined)
    parts.push((call = { type: `tool-${part.toolName}`, toolCallId: id, state: 'input-streaming' }));
  switch (part.type) {
    case 'start-step':
      return void parts.push({ type: 'step-start' });
    case 'text-start':
    case 'reasoning-start':
      return void parts.push({
        type: part.type.slice(0, -'-start'.length),
        text: '',
        state: 'done',
        providerMetadata: part.providerMetadata,
      });
    case 'text-delta':
    case 'reasoning-delta':
      return void Object.assign(last ?? {}, { text: `${String(last?.['text'])}${part.delta}` });
    case 'tool-input-available':
      return void Object.assign(call ?? {}, {
        input: part.input,
        ...(call?.['approval'] === undefined ? { state: 'input-available' } : {}),
      });
    case 'tool-approval-request':
      return void Object.assign(call ?? {}, { state: 'approval-requested', approval: { id: part.approvalId } });
    case 'tool-output-available':
      return void Object.assign(call ?? {}, { state: 'output-available', output: part.output });
    case 'tool-output-error':
      return void Object.assign(call ?? {}, { state: 'output-error', errorText: part.errorText });
    case 'tool-output-denied':
      return void Object.assign(call ?? {}, { state: 'output-denied' });
    case 'file':
      return void parts.push({ ...part });
    default:
      if (!('data' in part)) return;
      const known = parts.find((one) => one['type'] === part.type && part.id !== undefined && one['id'] === part.id);
      if (known === undefined) parts.push({ ...part });
      else known['data'] = part.data;
  }
}
