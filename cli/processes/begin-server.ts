import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastError } from '../../contract/errors';
import { readConfiguration, type Configuration } from '../../host/configuration';
import { startEmbeddedServer, type EmbeddedServer } from '../../host/server/embedded-server';
import { databasesIn } from '../../host/server/server-record';
import type { Terminal } from '../terminal';

export interface BegunServer {
  readonly server: Promise<EmbeddedServer>;
  /** Resolves if the server ends without `stop`. */
  readonly ended: Promise<HoldfastError>;
  readonly stop: () => Promise<void>;
}

/** A launch may wait for another process. The wait goes on later. */
const launchMs = 250;

export function beginServer(
  { directory, namespace }: Pick<Configuration, 'directory' | 'namespace'>,
  terminal: Terminal,
  onLaunch: () => void = () => undefined,
): BegunServer {
  let end: (error: HoldfastError) => void = () => undefined;
  const ended = new Promise<HoldfastError>((resolve) => (end = resolve));
  const server = startEmbeddedServer({
    directory,
    namespace,
    onLaunch,
    onProgress: (message) => terminal.write(terminal.paint.dim(message)),
    onExit: (error) => end(error),
    onLost: () =>
      end(
        new HoldfastError(
          'server-unreachable',
          `The embedded Temporal server of ${directory} is gone, with the process that had started it. The next \`holdfast dev\` or \`holdfast server\` starts one.`,
        ),
      ),
  });
  server.catch(() => undefined);
  const stop = async (): Promise<void> => {
    const running = await server.catch(() => undefined);
    await running?.stop();
  };
  return { server, ended, stop };
}

/**
 * Loading modules takes longer than the start of a server, so the server starts first. Undefined: no known server, or the usual way reports
 * the problem.
 */
export async function beginServerEarly(terminal: Terminal): Promise<BegunServer | undefined> {
  const configuration = knownConfiguration();
  if (configuration === undefined) return undefined;
  let launch: () => void = () => undefined;
  const launched = new Promise<void>((resolve) => (launch = resolve));
  const begun = beginServer(configuration, terminal, launch);
  const waiting = new AbortController();
  await Promise.race([
    launched,
    begun.server.catch(() => undefined),
    delay(launchMs, undefined, { signal: waiting.signal }).catch(() => undefined),
  ]);
  waiting.abort();
  return begun;
}

function knownConfiguration(): Configuration | undefined {
  try {
    const configuration = readConfiguration();
    const { directory, server } = configuration;
    return server === undefined && databasesIn(directory).length > 0 ? configuration : undefined;
  } catch {
    return undefined;
  }
}
