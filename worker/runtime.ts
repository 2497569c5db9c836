import { IllegalStateError } from '@temporalio/common';
import { DefaultLogger, Runtime, makeTelemetryFilterString } from '@temporalio/worker';
import type { LogLevel } from '@temporalio/worker';

let installed = false;

/** Temporal's own log, once for the process: warnings and errors as lines on stderr, the rest where `write` takes it. */
export function installRuntime(
  write: (level: LogLevel, message: string, meta: Readonly<Record<string, unknown>>) => void,
  level: LogLevel = 'WARN',
  core: 'ERROR' | 'WARN' = level === 'ERROR' ? 'ERROR' : 'WARN',
): void {
  if (installed) return;
  installed = true;
  Runtime.install({
    logger: new DefaultLogger(level, (entry) => write(entry.level, entry.message, entry.meta ?? {})),
    telemetryOptions: {
      logging: { forward: {}, filter: makeTelemetryFilterString({ core, other: 'ERROR' }) },
    },
    shutdownSignals: [],
  });
}

/** For tests and benches: only errors, as they are. */
export function quietRuntime(): void {
  installRuntime(() => undefined, 'ERROR');
}

/** The same for a process that may have a runtime of its own, which stays. */
export function quietUnlessInstalled(): void {
  try {
    quietRuntime();
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
}
