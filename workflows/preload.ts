import './shared-modules';

/**
 * Runs once for the sandbox. Temporal records the stack of every promise: ten frames would take a third of a run's CPU, and one frame still
 * shows the place of an error.
 */
Error.stackTraceLimit = 1;
