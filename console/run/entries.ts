import type { RunEvent } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import type { Failure, Json, StoredMessage, Usage } from '../../contract/messages/messages';
import type { MiddlewareChange } from '../../contract/middleware-changes';
import type { UsageByModel } from '../../contract/usage';
import { runTexts } from '../texts/run';

/** Something that took time: a call, a wait, an agent. A row of the timeline. */
export interface TimedStep {
  readonly key: string;
  readonly kind: 'model' | 'tool' | 'wait' | 'agent' | 'turn' | 'mark';
  readonly title: string;
  readonly agent: string;
  /** How deep its agent stands in others. */
  readonly depth: number;
  readonly start: number;
  end?: number;
  readonly address?: string;
  /** Of an isolated agent: its own run. */
  readonly run?: string;
  usage?: Usage;
  /** Of a turn and of an isolated agent: what each model has used. */
  usageByModel?: UsageByModel;
  model?: string;
  error?: Failure;
  changes?: readonly MiddlewareChange[];
  /** How often its answer did not count. */
  retries?: number;
  /** How long it was put off before it was made, in milliseconds. */
  waited?: { readonly turnMs: number; readonly busyMs: number };
  /** What people did with it. */
  ending?: string;
}

/** Why a call or an agent that has not come back does not run: it waits for somebody, nobody knows whether it happened, or the run has ended. */
export type Halt = 'waits' | 'in-doubt' | 'over';

/** One entry of the conversation, in the order of the log. */
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
      /** Absent: the tool was not called, as a person or a layer answered in its place. */
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

/** Who says a message: a tool is no agent, and its result none of the agent's words. */
export function speakerOf({
  message,
  agent,
  by,
}: Pick<Extract<ConversationEntry, { kind: 'message' }>, 'message' | 'agent' | 'by'>): string {
  const [part] = message.parts;
  if (message.role === 'tool') return runTexts.who.tool(part?.type === 'tool-result' ? part.name : '');
  return agent ?? by ?? (message.role === 'system' ? runTexts.who.system : runTexts.who.user);
}
