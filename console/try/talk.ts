import { defined } from '../../contract/defined';
import { isDelta } from '../../contract/deltas';
import type { Interrupt } from '../../contract/interrupts';
import type { Failure, Json, Message } from '../../contract/messages/messages';
import type { Delta, RunEvent } from '../../client/http/index';
import type { InterruptEnding } from '../data/outcomes';

export type TalkEntry =
  | { readonly kind: 'user'; readonly key: string; readonly text: string; readonly by?: string; readonly isQueued?: true }
  | { readonly kind: 'agent'; readonly key: string; readonly agent: string; readonly text: string; readonly isOpen: boolean }
  | {
      readonly kind: 'tool';
      readonly key: string;
      readonly tool: string;
      readonly input: Json;
      readonly output?: Json;
      readonly error?: Failure;
      readonly isOpen: boolean;
    }
  | {
      readonly kind: 'question';
      readonly key: string;
      readonly interrupt: Interrupt;
      readonly since: number;
      readonly ending?: InterruptEnding;
      readonly isOpen: boolean;
    }
  | { readonly kind: 'error'; readonly key: string; readonly error: Failure }
  | { readonly kind: 'end'; readonly key: string; readonly status: string };

export interface Talk {
  readonly entries: readonly TalkEntry[];
  readonly isWorking: boolean;
  readonly isEnded: boolean;
}

export const emptyTalk: Talk = { entries: [], isWorking: false, isEnded: false };

export function heard(talk: Talk, event: RunEvent | Delta): Talk {
  if (isDelta(event)) return heardDelta(talk, event);
  switch (event.type) {
    case 'turn-start':
      return { ...talk, isWorking: true };
    case 'turn-end':
      return { ...withError(talk, `turn ${event.turn}`, event.error), isWorking: false };
    case 'message-queued':
      return add(talk, { ...entryOf(event), isQueued: true });
    case 'message':
      return add(without(talk, `message ${event.id}`), entryOf(event));
    case 'message-withdrawn':
    case 'message-ignored':
      return without(talk, `message ${event.id}`);
    case 'model-start':
      return set(talk, { kind: 'agent', key: event.address, agent: event.agent, text: '', isOpen: true });
    case 'model-end': {
      const text = textOf(event.message);
      const key = event.address ?? event.message.id;
      if (text === '') return without(talk, key);
      return set(talk, { kind: 'agent', key, agent: event.agent, text, isOpen: false });
    }
    case 'agent-message':
      return add(talk, { kind: 'agent', key: event.message.id, agent: event.agent, text: textOf(event.message), isOpen: false });
    case 'tool-start':
      return set(talk, {
        kind: 'tool',
        key: `tool ${event.callId} ${event.runPath.join('/')}`,
        tool: event.tool,
        input: event.input,
        isOpen: true,
      });
    case 'tool-end':
      return change(talk, `tool ${event.callId} ${event.runPath.join('/')}`, (entry) =>
        entry.kind === 'tool' ? { ...entry, isOpen: false, output: outputOf(event.message), ...defined({ error: event.error }) } : entry,
      );
    case 'interrupt-start':
      return set(talk, { kind: 'question', key: event.interrupt.id, interrupt: event.interrupt, since: event.time, isOpen: true });
    case 'interrupt-end':
      return change(talk, event.interruptId, (entry) => (entry.kind === 'question' ? { ...entry, isOpen: false, ending: event } : entry));
    case 'run-end': {
      const told = withError(talk, 'run error', event.error);
      return { ...add(told, { kind: 'end', key: 'end', status: event.status }), isWorking: false, isEnded: true };
    }
    default:
      return talk;
  }
}

/** Removes the text of an attempt that does not count. */
function heardDelta(talk: Talk, delta: Delta): Talk {
  if (delta.type === 'text-delta')
    return change(talk, delta.address, (entry) => (entry.kind === 'agent' ? { ...entry, text: entry.text + delta.text } : entry));
  if (delta.type === 'attempt-start' || delta.type === 'attempt-void')
    return change(talk, delta.address, (entry) => (entry.kind === 'agent' ? { ...entry, text: '' } : entry));
  return talk;
}

function entryOf({ id, message, by }: Extract<RunEvent, { type: 'message' | 'message-queued' }>): Extract<TalkEntry, { kind: 'user' }> {
  return { kind: 'user', key: `message ${id}`, text: textOf(message), ...defined({ by }) };
}

function withError(talk: Talk, key: string, error: Failure | undefined): Talk {
  return error === undefined ? talk : add(talk, { kind: 'error', key, error });
}

function add(talk: Talk, entry: TalkEntry): Talk {
  return { ...talk, entries: [...talk.entries, entry] };
}

function without(talk: Talk, key: string): Talk {
  return { ...talk, entries: talk.entries.filter((entry) => entry.key !== key) };
}

function set(talk: Talk, entry: TalkEntry): Talk {
  return talk.entries.some(({ key }) => key === entry.key) ? change(talk, entry.key, () => entry) : add(talk, entry);
}

function change(talk: Talk, key: string, to: (entry: TalkEntry) => TalkEntry): Talk {
  return { ...talk, entries: talk.entries.map((entry) => (entry.key === key ? to(entry) : entry)) };
}

function textOf({ parts }: Message): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : part.type === 'file' ? [`[${part.mediaType}]`] : [])).join('\n');
}

function outputOf({ parts }: Message): Json {
  const [result] = parts.flatMap((part) => (part.type === 'tool-result' ? [part] : []));
  return result?.output ?? null;
}
