import type { Failure } from './messages/messages';
import type { Timestamp } from './timestamp';

/** A failure with the stack, if the server has the stack. */
export interface ThrownFailure extends Failure {
  readonly stack?: string;
}

/** One Temporal execution of a run. */
export interface RunExecution {
  /** Temporal's run id. */
  readonly temporalRunId: string;
  readonly startedAt: Timestamp;
  readonly closedAt?: Timestamp;
  /** `started`: the first. `continued`: after continue-as-new, for a long history or another build. `went-on`: after a retry or resume. */
  readonly began: 'started' | 'continued' | 'went-on';
  /** The build whose code ran last. Undefined: none yet, or builds have no names. */
  readonly build?: string;
  /** Set for a failed execution. */
  readonly error?: ThrownFailure;
}

/** The executions of a run, oldest first. */
export interface RunExecutions {
  readonly executions: readonly RunExecution[];
  /** Earlier executions are left out: too many, or no longer on the server. */
  readonly more: boolean;
}
