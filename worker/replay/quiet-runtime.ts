import { DefaultLogger, Runtime, makeTelemetryFilterString } from '@temporalio/worker';

/**
 * Calls a function that takes Temporal's runtime of the process as soon as it is called, and gives it one of its own that logs nothing. The
 * process keeps the runtime that it has, or has none as before: a worker that starts later logs as if there had been no replay.
 */
export function withQuietRuntime<Result>(begin: () => Result): Result {
  const { _instance, instantiator, defaultOptions } = Runtime;
  delete Runtime._instance;
  try {
    Runtime.install({
      logger: new DefaultLogger('ERROR', () => undefined),
      telemetryOptions: { logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }) } },
      shutdownSignals: [],
    });
    return begin();
  } finally {
    Runtime._instance = _instance;
    Runtime.instantiator = instantiator;
    Runtime.defaultOptions = defaultOptions;
    if (_instance === undefined) delete Runtime._instance;
    if (instantiator === undefined) delete Runtime.instantiator;
  }
}
