import type { Failure } from './messages/messages';
import type { Timestamp } from './timestamp';

/** A failure with where in the code it was thrown, as far as the server keeps that. */
export interface ThrownFailure extends Failure {
  readonly stack?: string;
}

/** One execution of a run in Temporal. A run has another one when it continues as new, moves to another build, or goes on behind an end. */
export interface RunExecution {
  /** Temporal's id of it. */
  readonly temporalRunId: string;
  readonly startedAt: Timestamp;
  readonly closedAt?: Timestamp;
  /**
   * `started`: it is the first. `continued`: the one before continued as new, because its history was long, or to move to another build.
   * `went-on`: the one before had ended, and somebody retried or resumed the run.
   */
  readonly began: 'started' | 'continued' | 'went-on';
  /** The build whose code ran last in it. Undefined before any did, and where builds have no names. */
  readonly build?: string;
  /** Of one that failed. */
  readonly error?: ThrownFailure;
}

/** The executions of a run, the oldest first. */
export interface RunExecutions {
  readonly executions: readonly RunExecution[];
  /** Earlier ones are left out: there are many, or the server no longer has them. */
  readonly more: boolean;
}
