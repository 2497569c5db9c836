import type { UsageByModel } from './usage';
import type { Answer, Interrupt } from './interrupts';
import type { Failure, FinishReason, Json, StoredMessage, ToolCall, Usage } from './messages/messages';

interface InAgent {
  readonly agent: string;
  readonly runPath: readonly string[];
}

/** What a reader of a run sees, without its offset and time. */
/**
 * `run-start`, `model-start`, `tool-start` and the like are derived from history by contract/record/fold.ts; the kernel sends the others. One with a
 * message also concerns kernel/log/ledger.ts, which keeps the message once.
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
    })
  /** An answer, or the lack of one, counts no more: the model, or another one, is asked again. */
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
    })
  | { readonly type: 'interrupt-start'; readonly interrupt: Interrupt }
  | {
      readonly type: 'interrupt-end';
      readonly interruptId: string;
      readonly answer: Json;
      readonly by?: string;
      readonly reason: 'answer' | 'deadline' | 'cancel';
    }
  | { readonly type: 'resume-ignored'; readonly interruptId: string; readonly code: string; readonly by?: string }
  | (InAgent & { readonly type: 'custom'; readonly name: string; readonly data: Json })
  /** The run had failed, and somebody tries it again. It goes on behind its last good step. */
  | { readonly type: 'run-retry'; readonly by?: string }
  | {
      readonly type: 'run-end';
      readonly status: EndStatus;
      readonly output?: Json;
      readonly text?: string;
      /** Calls of external tools that the run ended with: it has no answer yet. */
      readonly pendingToolCalls?: readonly ToolCall[];
      readonly error?: Failure;
    };

export type EndStatus = 'completed' | 'failed' | 'cancelled';
export type RunStatus = 'running' | 'waiting' | 'stuck' | EndStatus;

/** What lists filter by. An open run is running or waiting. */
export const listStatuses = ['open', 'running', 'waiting', 'completed', 'failed', 'cancelled'] as const;
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
  readonly startedAt?: string;
  readonly closedAt?: string;
  readonly tags?: readonly string[];
  readonly startedBy?: string;
  /** The build whose code ran last. Undefined before any did. */
  readonly build?: string;
  /** What each model has used that the run itself called. Isolated agents are runs of their own; `usage` has all. */
  readonly usageByModel?: UsageByModel;
}

/** What the run's own record says of it. */
export interface RunView extends RunFacts {
  readonly id: string;
  readonly agent: string;
  readonly status: RunStatus;
  readonly messages: readonly StoredMessage[];
  readonly interrupts: readonly Interrupt[];
  readonly usage: Usage;
  readonly nextOffset: number;
  readonly output?: Json;
  readonly text?: string;
  /** Calls of external tools that the run ended with, for its caller to make. */
  readonly pendingToolCalls?: readonly ToolCall[];
  readonly error?: Failure;
  /** Calls whose last attempt failed and that are made again. Undefined when there are none. */
  readonly retrying?: readonly RetriedCall[];
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
