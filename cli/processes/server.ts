import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { readConfiguration } from '../../host/configuration';
import { createLogger } from '../../host/logger';
import { startEmbeddedServer } from '../../host/server/embedded-server';
import { findLiveServer, type ServerRecord } from '../../host/server/server-record';
import type { Terminal } from '../terminal';
import { Lifetime } from './lifetime';
import { portOf } from './process-settings';
import { makeUsable } from './usable-directory';

export interface ServerCommandFlags {
  readonly port?: string;
  readonly uiPort?: string;
  readonly directory?: string;
}

const stayingMs = 60_000;

export async function serveTemporal(flags: ServerCommandFlags, terminal: Terminal): Promise<number> {
  const configuration = readConfiguration();
  const { namespace, logLevel, logFormat } = configuration;
  const given = flags.directory === undefined ? configuration.directory : resolve(flags.directory);
  const port = flags.port === undefined ? undefined : portOf(flags.port);
  const uiPort = flags.uiPort === undefined ? undefined : portOf(flags.uiPort, '--ui-port');
  const logger = createLogger({ level: logLevel, format: logFormat });
  return Lifetime.of(terminal, logger, async (lifetime) => {
    makeUsable(given);
    const directory = realpathSync(given);
    const running = await findLiveServer(directory);
    if (running !== undefined) throw alreadyRuns(directory, running);
    const server = await startEmbeddedServer({
      directory,
      namespace,
      onProgress: (message) => terminal.write(terminal.paint.dim(message)),
      onExit: (error) => lifetime.fail(error),
      ...defined({ port: port === 0 ? undefined : port, uiPort }),
    });
    await lifetime.onEnd('Temporal server', () => server.stop());
    // The server does not keep this process alive.
    const staying = setInterval(() => undefined, stayingMs);
    await lifetime.onEnd('wait for a signal', () => clearInterval(staying));
    // Another process started the server at the same time.
    const other = server.reused ? await findLiveServer(directory) : undefined;
    if (other !== undefined) throw alreadyRuns(directory, other);
    const line = (name: string, text: string): void => terminal.write(`  ${terminal.paint.dim(name.padEnd(9))} ${text}`);
    terminal.write();
    terminal.write(terminal.paint.green('The Temporal server is ready.'));
    line('address', `${server.address} (namespace ${server.namespace})`);
    if (server.uiAddress !== undefined) line('web UI', server.uiAddress);
    line('version', server.version);
    line('data', directory);
  });
}

function alreadyRuns(directory: string, { ownerPid, address }: ServerRecord): HoldfastError {
  return new HoldfastError('server-locked', `The process ${ownerPid} already runs the server of ${directory}, at ${address}.`);
}
