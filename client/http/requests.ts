import type { BatchOptions } from '../../contract/batches';
import type { CancelMode } from '../../contract/cancel';
import type { SendMode } from '../../contract/conversations';
import type { ListStatus } from '../../contract/events';
import type { ClientTool } from '../../contract/client-tools';
import type { Json, Message, ModelSettings, Part } from '../../contract/messages/messages';
import type { UsageGroup } from '../../contract/service-facts';
import type { RunOptions } from '../../contract/run-options';

/** A test compares the types with the service's schemas. */

interface Start {
  readonly values?: Readonly<Record<string, Json>>;
  readonly model?: string;
  readonly settings?: ModelSettings;
  readonly options?: RunOptions;
  readonly tags?: readonly string[];
  /** `false`: models and tools answer whole. */
  readonly stream?: boolean;
  readonly deadline?: string;
  /** The person who starts the run or writes the message. */
  readonly by?: string;
}

export interface StartRequest extends Start {
  readonly agent: string;
  /** A text, a list of messages, or a job. */
  readonly input?: Json | readonly Message[];
  /** The same id with the same agent and input is the same run. */
  readonly id?: string;
  readonly startDelay?: string;
  readonly runPendingToolCalls?: boolean;
}

export interface FeedQuery {
  /** `next` or a cursor of an earlier page. Absent: the oldest event that is kept. */
  readonly since?: string;
  readonly agent?: string;
  readonly run?: string;
  readonly startedBy?: string;
  /** A run has all of these tags. */
  readonly tag?: readonly string[];
  /** An event has one of these types. */
  readonly type?: readonly string[];
  readonly limit?: number;
}

export interface MessageRequest extends Start {
  readonly message: string | readonly Part[];
  /** The same id twice is the same message. */
  readonly id?: string;
  readonly mode?: SendMode;
  /** The sender's tools, for this turn. */
  readonly tools?: readonly ClientTool[];
  /** Starts the conversation if none exists. */
  readonly agent?: string;
  readonly idle?: string;
  readonly window?: number;
  readonly title?: string;
  readonly build?: 'pinned' | 'newest';
  readonly messages?: readonly Json[];
}

interface Who {
  readonly by?: string;
  readonly roles?: readonly string[];
  readonly inputHash?: string;
}

export type AnswerRequest = Who &
  (
    | { readonly answer: Json }
    | {
        readonly decision: 'approve';
        readonly editedInput?: Json;
        readonly forRestOfRun?: boolean;
        readonly upTo?: number;
        readonly comment?: string;
      }
    | { readonly decision: 'reject'; readonly feedback?: string; readonly comment?: string }
    | { readonly decision: 'delegate'; readonly to: string; readonly comment?: string }
  );

export type AnswerOfMany = AnswerRequest & { readonly runId: string; readonly interruptId: string };

export interface CancelRequestBody {
  readonly mode?: CancelMode | readonly CancelMode[];
  readonly within?: string;
  readonly recursive?: boolean;
  readonly reason?: string;
  readonly by?: string;
}

export interface GoOnRequest {
  readonly by?: string;
  readonly deadline?: string;
}

/** `dryRun` returns the outcomes and changes nothing. */
export interface DryRunRequest {
  readonly dryRun?: boolean;
}

export interface CountsQuery {
  readonly since?: string;
}

export interface UsageQuery extends CountsQuery {
  readonly by?: UsageGroup;
  readonly until?: string;
}

export interface InterruptQuery {
  readonly agent?: string;
  /** Matches runs with all tags. */
  readonly tag?: readonly string[];
  readonly startedBy?: string;
  readonly since?: string;
  readonly until?: string;
  readonly mayAnswer?: string;
  readonly role?: readonly string[];
  readonly waitingSince?: string;
  readonly limit?: number;
  readonly after?: string;
}

export interface RunQuery extends InterruptQuery {
  readonly status?: ListStatus;
  /** The beginning of the id. */
  readonly id?: string;
  readonly parent?: string;
  readonly total?: boolean;
}

export interface BatchRequest extends Omit<BatchOptions, 'tags'> {
  /** Default: made of the agent and the lines, so that equal lines are the same batch. */
  readonly id?: string;
  readonly tag?: readonly string[];
}

export interface BatchQuery {
  readonly limit?: number;
  readonly after?: string;
}

export interface StopBatchRequest {
  /** Also asks open runs to stop. */
  readonly cancelRuns?: boolean;
}

export interface ApplyPolicyRequest extends DryRunRequest, Omit<InterruptQuery, 'tag' | 'mayAnswer' | 'role' | 'waitingSince'> {
  readonly to: 'waiting';
  readonly by?: string;
  readonly tag?: string | readonly string[];
}

export interface BackfillRequest {
  /** A time such as `2026-11-23`, or how long ago it is, such as `3d`. */
  readonly since: string;
  readonly until: string;
}

export interface KeyRequest {
  /** The name of whoever uses the key. */
  readonly name: string;
  readonly roles: readonly string[];
  /** A duration such as `90d`. Default: the key does not expire. */
  readonly expires?: string;
}

export interface RotateRequest {
  /** How long the earlier key still works, such as `1h`. */
  readonly keep?: string;
}

export interface AuditRequest {
  /** A time, or how long ago it is, such as `2h`. */
  readonly since?: string;
  /** Default: 100. */
  readonly limit?: number;
}

export interface LinkRequest {
  /** The name of the person who decides. */
  readonly for: string;
  readonly roles?: readonly string[];
  /** A duration such as `3d`. */
  readonly expires?: string;
}

export interface EventsQuery {
  /** The offset of the first event. */
  readonly from?: number;
  /** End of the stream. Default: `end`. */
  readonly until?: 'waiting' | 'end';
  /** Ends the reading, and not the run. */
  readonly signal?: AbortSignal;
}
