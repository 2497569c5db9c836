import type { Signed } from './access';
import type { CancelFacts, CancelMode, CancelRequest } from './cancel';
import type { ConversationView, SendMode, TurnStatus } from './conversations';
import type { Timestamp } from './timestamp';
import type { UsageByModel } from './usage';
import type { DecidedPolicy } from './decisions';
import type { Answer, Interrupt, Reconciliation } from './interrupts';
import type { MiddlewareChange } from './middleware-changes';
import type { Failure, FinishReason, Json, StoredMessage, ToolCall, Usage } from './messages/messages';

interface InAgent {
  readonly agent: string;
  readonly runPath: readonly string[];
}

/**
 * contract/record/fold.ts derives start events from the history; the kernel sends the others. kernel/log/ledger.ts stores each message
 * once.
 */
export type EventBody =
  /** Signed by the starter. */
  | ({ readonly type: 'run-start'; readonly agent: string; readonly input: Json } & Signed)
  | (InAgent & { readonly type: 'model-start'; readonly turn: number; readonly address: string })
  | (InAgent & {
      readonly type: 'model-end';
      readonly turn: number;
      /** The last call for this message. Absent: no call, or the log begins later. */
      readonly address?: string;
      readonly message: StoredMessage;
      readonly model: string;
      readonly usage?: Usage;
      readonly finish?: FinishReason;
      /** Middleware that changed the request or the answer. Absent: none. */
      readonly changes?: readonly MiddlewareChange[];
    })
  /** An answer or a failure does not count, and a model is asked again if calls are left. */
  | (InAgent & {
      readonly type: 'model-retry';
      readonly turn: number;
      /** The number of the model's call, from 0. */
      readonly attempt: number;
      readonly error: Failure;
      /** The reason that `shouldRetry` gave. */
      readonly rejectReason?: Json;
      /** Set when another model is asked next. `attempt` counts from 1. */
      readonly failover?: { readonly attempt: number; readonly model: string };
      /** No call is left. */
      readonly last?: true;
    })
  /** A model call comes back after a wait. */
  | (InAgent & {
      readonly type: 'model-wait';
      readonly turn: number;
      readonly address: string;
      readonly times: number;
      /** Wait for a turn under `models.limits`, in milliseconds. */
      readonly turnMs: number;
      /** Wait for a busy provider, in milliseconds. */
      readonly busyMs: number;
    })
  | (InAgent & {
      readonly type: 'tool-start';
      readonly tool: string;
      readonly callId: string;
      readonly input: Json;
      readonly address: string;
      /** Repeats a call that did not happen. */
      readonly again?: boolean;
      /** The caller makes the call, and answers an interrupt with the result. */
      readonly external?: true;
    })
  | (InAgent & {
      readonly type: 'tool-end';
      readonly tool: string;
      readonly callId: string;
      readonly address?: string;
      readonly message: StoredMessage;
      readonly error?: Failure;
      /** Set by middleware with `ctx.sendToolAction`. */
      readonly action?: Json;
      /** Middleware that changed the arguments or the result. Absent: none. */
      readonly changes?: readonly MiddlewareChange[];
    })
  /** A tool is asked whether a call with a lost result took effect. */
  | (InAgent & {
      readonly type: 'tool-reconcile';
      readonly tool: string;
      readonly callId: string;
      readonly address: string;
      readonly said: Reconciliation['said'];
      /** Why the tool could not say. */
      readonly error?: string;
    })
  /** Sent by a custom agent. */
  | (InAgent & { readonly type: 'agent-message'; readonly message: StoredMessage; readonly action?: Json })
  /** An agent below the root agent begins or ends. */
  | (InAgent & {
      readonly type: 'agent-start';
      /** The run of an isolated agent. */
      readonly run?: string;
    })
  | (InAgent & {
      readonly type: 'agent-end';
      readonly action?: Json;
      readonly error?: Failure;
      readonly run?: string;
      /** Set for an isolated agent. */
      readonly usage?: Usage;
      readonly usageByModel?: UsageByModel;
    })
  | { readonly type: 'interrupt-start'; readonly interrupt: Interrupt }
  | ({
      readonly type: 'interrupt-end';
      readonly interruptId: string;
      readonly answer: Json;
      /** Roles claimed by the answerer. */
      readonly roles?: readonly string[];
      readonly reason: 'answer' | 'deadline' | 'cancel';
      readonly policy?: DecidedPolicy;
      readonly inputHash?: string;
    } & Signed)
  /** The asked people are to be reminded. */
  | { readonly type: 'interrupt-remind'; readonly interruptId: string; readonly at: number }
  /** From now on these people may answer, too. */
  | {
      readonly type: 'interrupt-escalate';
      readonly interruptId: string;
      readonly at: number;
      readonly by?: readonly string[];
      readonly roles?: readonly string[];
    }
  | ({ readonly type: 'resume-ignored'; readonly interruptId: string; readonly code: string } & Signed)
  | (InAgent & { readonly type: 'custom'; readonly name: string; readonly data: Json })
  /** A turn begins or ends. `title`: the new title. `clientTools`: names of the client's tools for this turn. */
  | { readonly type: 'turn-start'; readonly turn: number; readonly title?: string; readonly clientTools?: readonly string[] }
  | {
      readonly type: 'turn-end';
      readonly turn: number;
      readonly status: TurnStatus;
      readonly usage: Usage;
      /** Absent: the output is the text of the last message. */
      readonly output?: Json;
      readonly error?: Failure;
      /** When an idle conversation ends, in milliseconds since 1970. */
      readonly idleUntil?: number;
    }
  | (InAgent & {
      readonly type: 'message';
      readonly turn: number;
      readonly id: string;
      readonly mode: SendMode;
      readonly message: StoredMessage;
    } & Signed)
  /** A message waits, is edited, or is withdrawn. */
  | ({
      readonly type: 'message-queued';
      readonly id: string;
      readonly mode: SendMode;
      readonly message: StoredMessage;
    } & Signed)
  | ({ readonly type: 'message-changed'; readonly id: string; readonly message: StoredMessage } & Signed)
  | ({ readonly type: 'message-withdrawn'; readonly id: string } & Signed)
  /** A waiting message did not count. */
  | { readonly type: 'message-ignored'; readonly id: string; readonly code: string }
  | ({
      readonly type: 'conversation-change';
      /** `stopping`: the current turn ends at the next safe point. */
      readonly change: 'paused' | 'unpaused' | 'stopping' | 'titled' | 'ended';
      readonly title?: string;
      /** Set with `ended`. */
      readonly reason?: 'asked' | 'idle';
    } & Signed)
  /** A failed run is retried after the last good step. */
  | ({ readonly type: 'run-retry' } & Signed)
  /** A cancelled run goes on where the run stopped. */
  | ({ readonly type: 'run-resume' } & Signed)
  /** A request to stop, now or at a safe point. Several requests join. */
  | ({
      readonly type: 'cancel-request';
      readonly modes: readonly CancelMode[];
      /** False: agents below the root agent end first. */
      readonly recursive: boolean;
      readonly withinMs?: number;
      readonly reason?: string;
    } & Signed)
  /** The run stops, and open work is told to end. */
  | ({
      readonly type: 'cancel-start';
      readonly mode: CancelMode;
      /** The time was up before a safe point. */
      readonly escalated?: true;
      readonly reason?: string;
    } & Signed)
  | ({
      readonly type: 'run-end';
      readonly status: EndStatus;
      readonly output?: Json;
      readonly text?: string;
      /** External tool calls for the caller to make. */
      readonly pendingToolCalls?: readonly ToolCall[];
      readonly error?: Failure;
      /** Set for a cancelled run. */
      readonly mode?: CancelMode;
      readonly escalated?: true;
      readonly reason?: string;
    } & Signed);

/** Sent by an isolated agent to the parent run. */
export const eventsOfInterrupts: readonly EventBody['type'][] = [
  'interrupt-start',
  'interrupt-end',
  'interrupt-remind',
  'interrupt-escalate',
];

export type EndStatus = 'completed' | 'failed' | 'cancelled';
export type RunStatus = 'running' | 'waiting' | 'idle' | 'stuck' | EndStatus;

/** Statuses for filters. `open`: running, waiting or idle. */
export const listStatuses = ['open', 'running', 'waiting', 'idle', 'completed', 'failed', 'cancelled'] as const;
export type ListStatus = (typeof listStatuses)[number];

export function isEnded(status: RunStatus): status is EndStatus {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** An event of a run's durable log. Offsets count from 0, also over continue-as-new. */
export type RunEvent = EventBody & { readonly offset: number; readonly time: number };

/** The history has each message and interrupt once; later events have the id. */
export type WireEvent = {
  readonly type: string;
  readonly message?: StoredMessage | string;
  readonly interrupt?: Interrupt | string;
} & Readonly<Record<string, unknown>>;

/** The server's facts about a run. A run in memory has none. */
export interface RunFacts {
  /** When the run began, before any continue-as-new or upgrade. */
  readonly startedAt?: Timestamp;
  readonly closedAt?: Timestamp;
  readonly tags?: readonly string[];
  readonly startedBy?: string;
  /** The build whose code ran last. Undefined: none yet. */
  readonly build?: string;
  /** The usage includes isolated agents that have ended. */
  readonly usageByModel?: UsageByModel;
}

export interface RunHead extends RunFacts {
  readonly id: string;
  readonly agent: string;
  readonly status: RunStatus;
  readonly interrupts: readonly Interrupt[];
  readonly usage: Usage;
  readonly nextOffset: number;
  readonly output?: Json;
  readonly text?: string;
  /** External tool calls for the caller to make. */
  readonly pendingToolCalls?: readonly ToolCall[];
  readonly error?: Failure;
  /** The known facts of a cancel. */
  readonly cancelled?: Partial<CancelFacts>;
  /** The request to stop an open run at a safe point. */
  readonly cancelling?: Pick<CancelRequest, 'modes' | 'recursive' | 'reason' | 'by' | 'proof'>;
  /** Calls that are made again after a failure. Undefined: none. */
  readonly retrying?: readonly RetriedCall[];
  /** Set for a conversation. */
  readonly conversation?: ConversationView;
}

export interface RunView extends RunHead {
  readonly messages: readonly StoredMessage[];
}

/** A model or tool call with a failed attempt. */
export interface RetriedCall {
  readonly address: string;
  /** The next or current attempt. */
  readonly attempt: number;
  /** When that attempt begins or began, in milliseconds since 1970. */
  readonly nextAttemptAt: number;
  /** Why the last attempt failed. */
  readonly error: Failure;
}

export type { Answer };
