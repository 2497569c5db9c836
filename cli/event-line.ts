import { cancelRequestText, cancelStartText, reconcileText } from './cancel-words';
import { isPolicyApplied } from '../contract/decisions';
import { askedText } from '../contract/who-may-answer';
import type { RunEvent } from '../contract/events';
import { textOf, type Failure, type Json, type StoredMessage } from '../contract/messages/messages';
import { oneLine } from './terminal';
import { lengthText } from './times';

const longest = 160;

export function eventLine(event: RunEvent): string {
  const { offset, time, type } = event;
  const path = 'runPath' in event && event.runPath.length > 1 ? `[${event.runPath.slice(1).join(' › ')}] ` : '';
  const detail = oneLine(detailOf(event), longest);
  return `${String(offset).padStart(4)}  ${timeOf(time)}  ${oneLine(type).padEnd(15)}  ${oneLine(path)}${detail}`.trimEnd();
}

function timeOf(time: number): string {
  return new Date(time).toISOString().slice(0, 23).replace('T', ' ');
}

function detailOf(event: RunEvent): string {
  switch (event.type) {
    case 'run-start':
      return `${event.agent}${by(event)}: ${json(event.input)}`;
    case 'model-start':
      return `turn ${event.turn}`;
    case 'model-end':
      return `${event.model}: ${contentOf(event.message)}`;
    case 'model-wait':
      return `waited for its turn and the provider, ${event.times} times: ${lengthText(event.turnMs + event.busyMs)}`;
    case 'model-retry':
      return `${event.failover === undefined ? (event.last === true ? 'rejected' : 'asked again') : `${event.failover.model} is asked`}: ${event.error.message}`;
    case 'tool-start':
      return `${event.tool} ${json(event.input)}`;
    case 'tool-end':
      return event.error === undefined ? resultOf(event.tool, event.message) : `${event.tool}: ${failure(event.error)}`;
    case 'agent-message':
      return contentOf(event.message);
    case 'agent-start':
      return event.agent;
    case 'agent-end':
      return `${event.agent}${event.error === undefined ? '' : `: ${failure(event.error)}`}`;
    case 'interrupt-start': {
      const { interrupt } = event;
      return `${interrupt.id} ${interrupt.kind === 'approval' ? json(interrupt.input) : json(interrupt.info)}`;
    }
    case 'interrupt-end':
      return `${event.interruptId} ${isPolicyApplied(event.answer) ? 'policy applied' : event.reason}${by(event)}: ${json(event.answer)}`;
    case 'interrupt-remind':
      return event.interruptId;
    case 'interrupt-escalate':
      return `${event.interruptId} to ${askedText(event)}`;
    case 'resume-ignored':
      return `${event.interruptId} ${event.code}`;
    case 'tool-reconcile':
      return `${event.tool}: ${reconcileText(event)}`;
    case 'cancel-request':
      return cancelRequestText(event);
    case 'cancel-start':
      return cancelStartText(event);
    case 'run-retry':
    case 'run-resume':
      return by(event).trim();
    case 'custom':
      return `${event.name} ${json(event.data)}`;
    case 'run-end':
      return `${event.status}${event.error === undefined ? ` ${json(event.output ?? '')}` : `: ${failure(event.error)}`}`;
    default:
      return conversationDetailOf(event);
  }
}

type ConversationEvent = Extract<RunEvent, { type: `turn-${string}` | 'message' | `message-${string}` | 'conversation-change' }>;

function conversationDetailOf(event: ConversationEvent): string {
  switch (event.type) {
    case 'turn-start':
      return `${event.turn}`;
    case 'turn-end':
      return `${event.turn} ${event.status}${event.error === undefined ? '' : `: ${failure(event.error)}`}`;
    case 'message':
    case 'message-queued':
    case 'message-changed':
      return `${event.id}${by(event)}: ${contentOf(event.message)}`;
    case 'message-withdrawn':
      return `${event.id}${by(event)}`;
    case 'message-ignored':
      return `${event.id} ${event.code}`;
    case 'conversation-change':
      return [event.change, event.title, event.reason, by(event).trim()].filter(Boolean).join(' ');
    default:
      return rest(event);
  }
}

function by({ by: name }: { readonly by?: string }): string {
  return name === undefined ? '' : ` by ${name}`;
}

function failure({ code, message }: Failure): string {
  return `${code}: ${message}`;
}

function resultOf(tool: string, message: StoredMessage): string {
  const content = contentOf(message);
  return message.parts.some(({ type }) => type === 'tool-result') ? content : `${tool}: ${content}`;
}

function rest(event: never): string {
  return JSON.stringify(event);
}

export function contentOf(message: StoredMessage): string {
  const parts = message.parts.flatMap((part) => {
    if (part.type === 'tool-call') return [`→ ${oneLine(part.name)} ${oneLine(part.input)}`];
    if (part.type === 'tool-result') return [`← ${oneLine(part.name)}: ${oneLine(part.output)}`];
    return part.type === 'text' || part.type === 'reasoning' ? [] : [`(${part.type})`];
  });
  return [textOf(message).trim(), ...parts].filter((part) => part !== '').join('  ');
}

function json(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
