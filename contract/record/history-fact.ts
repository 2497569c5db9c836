import type { EndStatus } from '../events';
import type { Failure } from '../messages/messages';
import type { AgentRunInput, AgentRunResult, CallModelInput, CallToolInput } from './wire';

export type HistoryFact =
  | { readonly kind: 'start'; readonly time: number; readonly workflowId: string; readonly input: AgentRunInput }
  | {
      readonly kind: 'model-scheduled';
      readonly time: number;
      readonly eventId: number;
      readonly activityId: string;
      readonly input: CallModelInput;
    }
  | {
      readonly kind: 'tool-scheduled';
      readonly time: number;
      readonly eventId: number;
      readonly activityId: string;
      readonly input: CallToolInput;
    }
  | { readonly kind: 'activity-completed'; readonly time: number; readonly scheduledId: number; readonly result: unknown }
  | { readonly kind: 'activity-closed'; readonly time: number; readonly scheduledId: number }
  | { readonly kind: 'memo'; readonly time: number; readonly values: Readonly<Record<string, unknown>> }
  | { readonly kind: 'task-completed'; readonly time: number }
  /** Passing: the workflow task failed because of another run and is repeated. */
  | { readonly kind: 'task-failed'; readonly time: number; readonly message: string; readonly passing?: true }
  /** An event that the workflow code has not seen. */
  | {
      readonly kind: 'stirred';
      readonly time: number;
      readonly by: 'signal' | 'cancel';
      readonly reason?: string;
    }
  | { readonly kind: 'continued'; readonly time: number; readonly nextRunId: string }
  | { readonly kind: 'end'; readonly time: number; readonly status: EndStatus; readonly result?: AgentRunResult; readonly error?: Failure };
