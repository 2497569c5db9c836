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
 * What a reader of a run sees, without its offset and time. `run-start`, `model-start`, `tool-start` and the like are derived from history by
 * contract/record/fold.ts; the kernel sends the others. One with a message also concerns kernel/log/ledger.ts, which keeps the message once.
 */
export type EventBody =
  | { readonly type: 'run-start'; readonly agent: string; readonly input: Json }
  | (InAgent & { readonly type: 'model-start'; readonly turn: number; readonly address: string })
  | (InAgent & {
      readonly type: 'model-end';
      readonly turn: number;
      /** Of the call that answered last for this message. Absent when none was made, or where the log begins in the middle. */
      readonly address?: string;
      readonly message: StoredMessage;
      readonly model: string;
      readonly usage?: Usage;
      readonly finish?: FinishReason;
      /** Who changed what the model was asked, or what it answered. Absent: nobody did. */
      readonly changes?: readonly MiddlewareChange[];
    })
  /** An answer, or the lack of one, counts no more: the model, or another one, is asked again, if a call is left. */
  | (InAgent & {
      readonly type: 'model-retry';
      readonly turn: number;
      /** Which call of this model it was, from 0. */
      readonly attempt: number;
      readonly error: Failure;
      /** What `shouldRetry` said of it. */
      readonly rejectReason?: Json;
      /** Set when another model is asked next. `attempt` counts from 1. */
      readonly failover?: { readonly attempt: number; readonly model: string };
      /** Set when no call is left, and no model is asked again. */
      readonly last?: true;
    })
  /** A call of a model has come back that was put off before it was made. */
  | (InAgent & {
      readonly type: 'model-wait';
      readonly turn: number;
      readonly address: string;
      /** How often it was put off. */
      readonly times: number;
      /** For its turn, by `models.limits`, in milliseconds. */
      readonly turnMs: number;
      /** For the provider, which was busy. */
      readonly busyMs: number;
    })
  | (InAgent & {
      readonly type: 'tool-start';
      readonly tool: string;
      readonly callId: string;
      readonly input: Json;
      readonly address: string;
      /** The call was started before and did not happen: this is the one that counts, and the end has its address. */
      readonly again?: boolean;
      /** Somebody outside of the run makes the call, and answers an interrupt with its result. */
      readonly external?: true;
    })
  | (InAgent & {
      readonly type: 'tool-end';
      readonly tool: string;
      readonly callId: string;
      readonly address?: string;
      readonly message: StoredMessage;
      readonly error?: Failure;
      /** What a layer said the call stands for, with `ctx.sendToolAction`. */
      readonly action?: Json;
      /** Who changed what the tool was called with, or what it gave. Absent: nobody did. */
      readonly changes?: readonly MiddlewareChange[];
    })
  /** A tool was asked whether a call of it took effect whose result was lost. */
  | (InAgent & {
      readonly type: 'tool-reconcile';
      readonly tool: string;
      readonly callId: string;
      readonly address: string;
      readonly said: Reconciliation['said'];
      /** Why it could not say so. */
      readonly error?: string;
    })
  /** Of an agent that is made by hand. */
  | (InAgent & { readonly type: 'agent-message'; readonly message: StoredMessage; readonly action?: Json })
  /** An agent behind the one that the run was started with begins, and ends. */
  | (InAgent & {
      readonly type: 'agent-start';
      /** The run that an isolated agent is. What happens in it stands in its own log. */
      readonly run?: string;
    })
  | (InAgent & {
      readonly type: 'agent-end';
      readonly action?: Json;
      readonly error?: Failure;
      /** Of an isolated agent. */
      readonly run?: string;
      /** What the run of an isolated agent has used. */
      readonly usage?: Usage;
      /** The same by model. */
      readonly usageByModel?: UsageByModel;
    })
  | { readonly type: 'interrupt-start'; readonly interrupt: Interrupt }
  | {
      readonly type: 'interrupt-end';
      readonly interruptId: string;
      readonly answer: Json;
      readonly by?: string;
      /** The roles that were said to be theirs. */
      readonly roles?: readonly string[];
      readonly reason: 'answer' | 'deadline' | 'cancel';
      /** The policy that asked, and the hash of the arguments that the answer is about. */
      readonly policy?: DecidedPolicy;
      readonly inputHash?: string;
    }
  /** Nobody has answered so far, and those who are asked are to be reminded. */
  | { readonly type: 'interrupt-remind'; readonly interruptId: string; readonly at: number }
  /** Nobody has answered so far. From now on others may answer as well. */
  | {
      readonly type: 'interrupt-escalate';
      readonly interruptId: string;
      readonly at: number;
      readonly by?: readonly string[];
      readonly roles?: readonly string[];
    }
  | { readonly type: 'resume-ignored'; readonly interruptId: string; readonly code: string; readonly by?: string }
  | (InAgent & { readonly type: 'custom'; readonly name: string; readonly data: Json })
  /**
   * Of a conversation: a turn begins, and ends. `title`: what the conversation is called from now on, by its first words. `clientTools`: the tools
   * that its client has for this turn, by name.
   */
  | { readonly type: 'turn-start'; readonly turn: number; readonly title?: string; readonly clientTools?: readonly string[] }
  | {
      readonly type: 'turn-end';
      readonly turn: number;
      readonly status: TurnStatus;
      readonly usage: Usage;
      /** Absent: it is the text of the last message. */
      readonly output?: Json;
      readonly error?: Failure;
      /** When the conversation ends if nobody says anything, in milliseconds since 1970. */
      readonly idleUntil?: number;
    }
  /** Somebody's message takes effect, in this turn. */
  | (InAgent & {
      readonly type: 'message';
      readonly turn: number;
      readonly id: string;
      readonly mode: SendMode;
      readonly message: StoredMessage;
      readonly by?: string;
    })
  /** It waits, was changed while it waited, and was taken back. */
  | {
      readonly type: 'message-queued';
      readonly id: string;
      readonly mode: SendMode;
      readonly message: StoredMessage;
      readonly by?: string;
    }
  | { readonly type: 'message-changed'; readonly id: string; readonly message: StoredMessage; readonly by?: string }
  | { readonly type: 'message-withdrawn'; readonly id: string; readonly by?: string }
  /** It was left for a worker, and did not count. */
  | { readonly type: 'message-ignored'; readonly id: string; readonly code: string }
  | {
      readonly type: 'conversation-change';
      /** `stopping`: the turn at work ends at its next safe place. */
      readonly change: 'paused' | 'unpaused' | 'stopping' | 'titled' | 'ended';
      readonly title?: string;
      /** Of the end. */
      readonly reason?: 'asked' | 'idle';
      readonly by?: string;
    }
  /** The run had failed, and somebody tries it again. It goes on behind its last good step. */
  | { readonly type: 'run-retry'; readonly by?: string }
  /** The run was cancelled, and somebody lets it go on where it stood. */
  | { readonly type: 'run-resume'; readonly by?: string }
  /** Somebody asks that the run stops: at once, or at a safe point. Several requests join. */
  | {
      readonly type: 'cancel-request';
      readonly modes: readonly CancelMode[];
      /** False: agents below the first one are left to end first. */
      readonly recursive: boolean;
      readonly withinMs?: number;
      readonly reason?: string;
      readonly by?: string;
    }
  /** The run stops: all that is under way ends or is told to. */
  | {
      readonly type: 'cancel-start';
      readonly mode: CancelMode;
      /** Its time was up before a safe point came. */
      readonly escalated?: true;
      readonly reason?: string;
      readonly by?: string;
    }
  | {
      readonly type: 'run-end';
      readonly status: EndStatus;
      readonly output?: Json;
      readonly text?: string;
      /** Calls of external tools that the run ended with: it has no answer yet. */
      readonly pendingToolCalls?: readonly ToolCall[];
      readonly error?: Failure;
      /** Of a cancelled run: how, why and by whom, as far as somebody said so. */
      readonly mode?: CancelMode;
      readonly escalated?: true;
      readonly reason?: string;
      readonly by?: string;
    };

/** What an isolated agent tells the run that it is part of. */
export const eventsOfInterrupts: readonly EventBody['type'][] = [
  'interrupt-start',
  'interrupt-end',
  'interrupt-remind',
  'interrupt-escalate',
];

export type EndStatus = 'completed' | 'failed' | 'cancelled';
export type RunStatus = 'running' | 'waiting' | 'idle' | 'stuck' | EndStatus;

/** What lists filter by. An open run is running, waiting or idle. */
export const listStatuses = ['open', 'running', 'waiting', 'idle', 'completed', 'failed', 'cancelled'] as const;
export type ListStatus = (typeof listStatuses)[number];

export function isEnded(status: RunStatus): status is EndStatus {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** One line of a run's durable log. Offsets count from 0 and go on over continue-as-new. */
export type RunEvent = EventBody & { readonly offset: number; readonly time: number };

/** In history a message stands whole once; after that its id stands for it, and an interrupt's id for the interrupt. */
export type WireEvent = {
  readonly type: string;
  readonly message?: StoredMessage | string;
  readonly interrupt?: Interrupt | string;
} & Readonly<Record<string, unknown>>;

/** What the server knows of a run beside its log. A run in memory has none of it. */
export interface RunFacts {
  /** When the run began, over continue-as-new and upgrades. */
  readonly startedAt?: Timestamp;
  readonly closedAt?: Timestamp;
  readonly tags?: readonly string[];
  readonly startedBy?: string;
  /** The build whose code ran last. Undefined before any did. */
  readonly build?: string;
  /** What each model has used, in the run and in the isolated agents of it that have ended. */
  readonly usageByModel?: UsageByModel;
}

/** A run without its messages. */
export interface RunHead extends RunFacts {
  readonly id: string;
  readonly agent: string;
  readonly status: RunStatus;
  readonly interrupts: readonly Interrupt[];
  readonly usage: Usage;
  readonly nextOffset: number;
  readonly output?: Json;
  readonly text?: string;
  /** Calls of external tools that the run ended with, for its caller to make. */
  readonly pendingToolCalls?: readonly ToolCall[];
  readonly error?: Failure;
  /** How the run was cancelled, as far as somebody said so. */
  readonly cancelled?: Partial<CancelFacts>;
  /** What is asked of an open run that is to stop at a safe point. */
  readonly cancelling?: Pick<CancelRequest, 'modes' | 'recursive' | 'reason' | 'by'>;
  /** Calls whose last attempt failed and that are made again. Undefined when there are none. */
  readonly retrying?: readonly RetriedCall[];
  /** Of a run that stays open between turns. */
  readonly conversation?: ConversationView;
}

/** What the run's own record says of it. */
export interface RunView extends RunHead {
  readonly messages: readonly StoredMessage[];
}

/** A call of a model or a tool that waits for its next attempt, or is in it. */
export interface RetriedCall {
  readonly address: string;
  /** The attempt that comes next, or is at work. */
  readonly attempt: number;
  /** When that attempt begins or began, in milliseconds since 1970. */
  readonly nextAttemptAt: number;
  /** Why the last attempt failed. */
  readonly error: Failure;
}

export type { Answer };
