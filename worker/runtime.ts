import { IllegalStateError } from '@temporalio/common';
import { DefaultLogger, Runtime, makeTelemetryFilterString } from '@temporalio/worker';
import type { LogEntry, LogLevel } from '@temporalio/worker';

let installed = false;

/** Temporal's own log, once for the process: warnings and errors on stderr, other lines to `write`. */
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

export function quietRuntime(): void {
  installRuntime(() => undefined, 'ERROR');
}

let replays = 0;
let quietUntil = 0;

/** Keeps a replay out of Temporal's log, unless the process has installed a runtime. Returns a function that ends the replay. */
export function beginQuietReplay(): () => void {
  replays++;
  if (!installed) installWithQuietReplays();
  return () => {
    replays--;
    quietUntil = Date.now();
  };
}

function installWithQuietReplays(): void {
  installed = true;
  const usual = new DefaultLogger('INFO');
  const log = ({ level, message, meta, timestampNanos }: LogEntry): void => {
    // Temporal's core delivers its lines a little later.
    if (replays === 0 && Number(timestampNanos / 1_000_000n) > quietUntil) usual.log(level, message, meta);
  };
  try {
    const filter = makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' });
    Runtime.install({ logger: new DefaultLogger('INFO', log), telemetryOptions: { logging: { forward: {}, filter } } });
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
}
