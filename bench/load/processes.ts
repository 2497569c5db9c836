import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { GuardedProcess } from '../../host/server/guarded-process';
import { startGuarded } from '../../host/server/guarded-process';

export interface Started extends GuardedProcess {
  /** What it has written to its log so far. */
  said(): string;
}

export interface ProgramOptions {
  readonly directory: string;
  readonly environment?: NodeJS.ProcessEnv;
  /** It is ready when its log has this. */
  readonly until: string;
}

let logs = 0;

/** A process that ends with this one, however this one ends. Settles when it is ready. */
export async function startProgram(name: string, command: string, args: readonly string[], options: ProgramOptions): Promise<Started> {
  const logFile = join(options.directory, `${name}-${++logs}.log`);
  const started = await startGuarded(command, args, { logFile, environment: { ...process.env, ...options.environment } });
  const said = (): string => readFileSync(logFile, 'utf8');
  let ended = false;
  void started.exited.then(() => (ended = true));
  while (!said().includes(options.until)) {
    if (ended) throw new Error(`The ${name} ended before it was ready. It said:\n${said()}`);
    await delay(20);
  }
  return { ...started, said };
}

export interface LoadWorkerSettings {
  readonly address: string;
  readonly taskQueue: string;
  /** Where bundles are kept. */
  readonly bundles: string;
  readonly maxCachedRuns?: number;
}

export function startLoadWorker(directory: string, counterUrl: string, settings: LoadWorkerSettings): Promise<Started> {
  return startProgram('worker', process.execPath, [join(__dirname, 'worker-process.js'), JSON.stringify(settings)], {
    directory,
    environment: { BENCH_COUNTER: counterUrl },
    until: 'ready',
  });
}
