import { IllegalStateError } from '@temporalio/common';
import { DefaultLogger, Runtime, makeTelemetryFilterString } from '@temporalio/worker';
import type { LogEntry, LogLevel } from '@temporalio/worker';
import { lostTaskLine } from './sdk-internals';

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
    logger: heedful(level, ({ level: at, message, meta }) => write(at, message, meta ?? {})),
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
  installDefaultRuntime();
  return () => {
    replays--;
    quietUntil = Date.now();
  };
}

function installDefaultRuntime(): void {
  if (installed) return;
  installed = true;
  const usual = new DefaultLogger('INFO');
  const log = ({ level, message, meta, timestampNanos }: LogEntry): void => {
    // Temporal's core delivers its lines a little later.
    if (replays === 0 && Number(timestampNanos / 1_000_000n) > quietUntil) usual.log(level, message, meta);
  };
  try {
    const filter = makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' });
    Runtime.install({ logger: heedful('INFO', log), telemetryOptions: { logging: { forward: {}, filter } } });
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
}

const worried = new Set<() => void>();

/** Calls `act` when Temporal's core has lost a task, and returns a function that ends the calls. A runtime of the user's own tells nothing. */
export function onLostTask(act: () => void): () => void {
  installDefaultRuntime();
  worried.add(act);
  return () => worried.delete(act);
}

function heedful(level: LogLevel, log: (entry: LogEntry) => void): DefaultLogger {
  return new DefaultLogger(level, (entry) => {
    log(entry);
    if (entry.message.includes(lostTaskLine)) for (const act of worried) act();
  });
}
