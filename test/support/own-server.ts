import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedServer } from '../../host/server/embedded-server';
import { quietRuntime } from '../../worker/runtime';
import type { Temporal } from './temporal';
import { openTemporal } from './temporal';

/** Continues as new at once, and fires timers on time. */
export const promptServer = { 'history.workflowIdReuseMinimalInterval': '0s', 'history.timerProcessorMaxTimeShift': '10ms' };

interface OwnServer {
  readonly directory: string;
  readonly temporal: Temporal;
}

export async function onOwnServer<T>(name: string, settings: Record<string, string>, play: (server: OwnServer) => Promise<T>): Promise<T> {
  quietRuntime();
  const directory = mkdtempSync(join(tmpdir(), `holdfast-${name}-`));
  const server = await startEmbeddedServer({ directory, dynamicConfig: settings });
  process.env['HOLDFAST_TEST_ADDRESS'] = server.address;
  process.env['HOLDFAST_TEST_DIRECTORY'] = directory;
  const temporal = await openTemporal();
  try {
    return await play({ directory, temporal });
  } finally {
    await temporal.close();
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Exits at the end, even if open handles remain. */
export function runProgram(main: () => Promise<number>): void {
  main().then(
    (code) => process.exit(code),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
}
