import './shared-modules';

/**
 * Runs once for the sandbox, before any workflow. Temporal records the stack of every promise, with ten frames a third
 * of a run's CPU. One frame still says where an error was thrown.
 */
Error.stackTraceLimit = 1;
