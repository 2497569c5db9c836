import type { RunEvent } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import type { Failure, Json, Message, StoredMessage, Usage } from '../../contract/messages/messages';
import type { MiddlewareChange } from '../../contract/middleware-changes';
import type { UsageByModel } from '../../contract/usage';
import { runTexts } from '../texts/run';

export interface TimedStep {
  readonly key: string;
  readonly kind: 'model' | 'tool' | 'wait' | 'agent' | 'turn' | 'mark';
  readonly title: string;
  readonly agent: string;
  readonly depth: number;
  readonly start: number;
  end?: number;
  readonly address?: string;
  readonly run?: string;
  usage?: Usage;
  usageByModel?: UsageByModel;
  model?: string;
  error?: Failure;
  changes?: readonly MiddlewareChange[];
  retries?: number;
  waited?: { readonly turnMs: number; readonly busyMs: number };
  ending?: string;
}

/** `waits`: a person must answer. `over`: the run has ended. */
export type Halt = 'waits' | 'in-doubt' | 'over';

export type ConversationEntry = { readonly key: string; readonly time: number } & (
  | {
      readonly kind: 'message';
      readonly message: StoredMessage;
      readonly agent?: string;
      readonly by?: string;
      readonly depth: number;
      readonly address?: string;
      readonly model?: string;
      readonly isPartial?: boolean;
      readonly changes?: readonly MiddlewareChange[];
    }
  | {
      readonly kind: 'call';
      readonly tool: string;
      readonly callId: string;
      readonly agent: string;
      readonly depth: number;
      /** Absent: a person or a middleware answered for the tool. */
      address?: string;
      readonly input: Json;
      readonly start: number;
      halt?: Halt;
      end?: {
        readonly message: StoredMessage;
        readonly error?: Failure;
        readonly time: number;
        readonly changes?: readonly MiddlewareChange[];
      };
    }
  | { readonly kind: 'turn'; readonly turn: number }
  | {
      readonly kind: 'agent';
      readonly agent: string;
      readonly depth: number;
      readonly run: string;
      halt?: Halt;
      end?: { readonly error?: Failure; readonly time: number };
    }
  | { readonly kind: 'wait'; readonly interrupt: Interrupt; halt?: Halt; end?: Extract<RunEvent, { type: 'interrupt-end' }> }
  | { readonly kind: 'note'; readonly event: RunEvent }
);

export type EntryOf<Kind extends ConversationEntry['kind']> = Extract<ConversationEntry, { readonly kind: Kind }>;

export function speakerOf({ message, agent, by }: { readonly message: Message; readonly agent?: string; readonly by?: string }): string {
  const [part] = message.parts;
  if (message.role === 'tool') return runTexts.who.tool(part?.type === 'tool-result' ? part.name : '');
  return agent ?? by ?? (message.role === 'system' ? runTexts.who.system : runTexts.who.user);
}
