import type { Json } from '../../contract/messages/messages';

export type AguiPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio' | 'video' | 'document'; readonly source: AguiSource };

export type AguiSource =
  | { readonly type: 'data'; readonly value: string; readonly mimeType: string }
  | { readonly type: 'url'; readonly value: string; readonly mimeType?: string };

interface AguiToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

export type AguiMessage =
  | { readonly id: string; readonly role: 'system'; readonly content: string }
  | { readonly id: string; readonly role: 'user'; readonly content: string | readonly AguiPart[]; readonly name?: string }
  | { readonly id: string; readonly role: 'assistant'; readonly content?: string; readonly toolCalls?: readonly AguiToolCall[] }
  | { readonly id: string; readonly role: 'reasoning'; readonly content: string }
  | { readonly id: string; readonly role: 'tool'; readonly toolCallId: string; readonly content: string; readonly error?: string };

export interface AguiInterrupt {
  readonly id: string;
  readonly reason: string;
  readonly message?: string;
  readonly toolCallId?: string;
  readonly responseSchema?: Json;
  readonly expiresAt?: string;
  readonly metadata?: Json;
}

export interface AguiUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly reasoningTokens?: number;
  readonly cachedInputTokens?: number;
}

export type AguiOutcome =
  | { readonly type: 'success'; readonly pendingToolCallIds?: readonly string[] }
  | { readonly type: 'interrupt'; readonly interrupts: readonly AguiInterrupt[] }
  | { readonly type: 'cancelled' };

interface OfRun {
  readonly threadId: string;
  readonly runId: string;
}

interface OfMessage {
  readonly messageId: string;
  readonly subagentRunId?: string;
}

interface OfCall {
  readonly toolCallId: string;
  readonly subagentRunId?: string;
}

/** The events that the service sends. Callbacks may send other events of AG-UI 1.0. */
export type AguiEvent =
  | (OfRun & { readonly type: 'RUN_STARTED'; readonly protocolVersion?: string; readonly parentRunId?: string })
  | (OfRun & {
      readonly type: 'RUN_FINISHED';
      readonly result?: Json;
      readonly outcome?: AguiOutcome;
      readonly usage?: readonly AguiUsage[];
    })
  | { readonly type: 'RUN_ERROR'; readonly message: string; readonly code?: string; readonly usage?: readonly AguiUsage[] }
  | { readonly type: 'STEP_STARTED' | 'STEP_FINISHED'; readonly stepName: string }
  | (OfMessage & { readonly type: 'TEXT_MESSAGE_START'; readonly role: 'assistant' | 'user'; readonly name?: string })
  | (OfMessage & { readonly type: 'TEXT_MESSAGE_CONTENT'; readonly delta: string })
  | (OfMessage & { readonly type: 'TEXT_MESSAGE_END' })
  | (OfMessage & { readonly type: 'REASONING_START' | 'REASONING_END' | 'REASONING_MESSAGE_END' })
  | (OfMessage & { readonly type: 'REASONING_MESSAGE_START'; readonly role: 'reasoning' })
  | (OfMessage & { readonly type: 'REASONING_MESSAGE_CONTENT'; readonly delta: string })
  | (OfCall & { readonly type: 'TOOL_CALL_START'; readonly toolCallName: string; readonly parentMessageId?: string })
  | (OfCall & { readonly type: 'TOOL_CALL_ARGS'; readonly delta: string })
  | (OfCall & { readonly type: 'TOOL_CALL_END' })
  | (OfCall & OfMessage & { readonly type: 'TOOL_CALL_RESULT'; readonly content: string; readonly role: 'tool' })
  | { readonly type: 'STATE_SNAPSHOT'; readonly snapshot: Json }
  | { readonly type: 'STATE_DELTA'; readonly delta: readonly Json[] }
  | { readonly type: 'MESSAGES_SNAPSHOT'; readonly messages: readonly AguiMessage[] }
  | (OfMessage & { readonly type: 'ACTIVITY_SNAPSHOT'; readonly activityType: string; readonly content: Json; readonly replace?: boolean })
  | (OfMessage & { readonly type: 'ACTIVITY_DELTA'; readonly activityType: string; readonly patch: readonly Json[] })
  | {
      readonly type: 'SUBAGENT_STARTED';
      readonly subagentRunId: string;
      readonly name: string;
      readonly parentSubagentRunId?: string;
    }
  | {
      readonly type: 'SUBAGENT_FINISHED';
      readonly subagentRunId: string;
      readonly outcome?: { readonly type: 'success' | 'suspended' };
    }
  | { readonly type: 'SUBAGENT_ERROR'; readonly subagentRunId: string; readonly message: string; readonly code?: string }
  | { readonly type: 'CUSTOM'; readonly name: string; readonly value: Json };

export type LastEvent = Extract<AguiEvent, { type: 'RUN_FINISHED' | 'RUN_ERROR' }>;

export function isTerminal(event: AguiEvent): event is LastEvent {
  return event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR';
}
