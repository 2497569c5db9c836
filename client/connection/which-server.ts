import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { HoldfastError, codeOf } from '../../contract/errors';
import { readConfiguration } from '../../host/configuration';
import type { TemporalConnection, TemporalSettings } from '../../host/connection';
import { connectTemporal } from '../../host/connection';
import { findLiveServer } from '../../host/server/server-record';
import { DirectoryDriver, snapshotStorage } from '../../host/snapshot-storage';
import { defined } from '../../contract/defined';
import type { ConnectOptions } from './connect-options';
import type { Client, ConnectionLike } from '@temporalio/client';
import { WorkflowClient } from '@temporalio/client';
import type { LoadedDataConverter } from '@temporalio/common';
import { loadedWithCompression } from '../../host/payloads/compression';

const lastResort = 'localhost:7233';

export async function withDefaults(options: ConnectOptions): Promise<ConnectOptions> {
  const { tenant, taskQueue, compress } = readConfiguration();
  return { tenant, taskQueue, ...(await embeddedServer(options)), ...defined({ compress }), ...options };
}

/** The server of `holdfast dev` in this directory, with its storage. */
async function embeddedServer(options: ConnectOptions): Promise<ConnectOptions> {
  const { server, directory, namespace } = readConfiguration();
  if (options.server !== undefined || options.address !== undefined || server !== undefined || !existsSync(directory)) return {};
  const live = await findLiveServer(directory);
  if (live === undefined) return {};
  return {
    server: { address: live.address, namespace },
    dataConverter: snapshotStorage(new DirectoryDriver(join(directory, 'snapshots'))),
    compress: true,
  };
}

function serverOf(options: ConnectOptions): TemporalSettings {
  if (options.server !== undefined) return options.server;
  const { server, namespace } = readConfiguration();
  if (options.address !== undefined) return { ...server, namespace, address: options.address };
  return server ?? { address: lastResort, namespace };
}

export async function openConnection(options: ConnectOptions): Promise<TemporalConnection> {
  const { directory, server } = readConfiguration();
  try {
    return await connectTemporal(serverOf(options));
  } catch (error) {
    if (codeOf(error) !== 'server-unreachable' || (options.server ?? options.address ?? server) !== undefined) throw error;
    throw new HoldfastError(
      'server-unreachable',
      `No server runs on ${directory}, and none answers at ${lastResort}. Start \`npx holdfast dev\` here, or say where the server is: TEMPORAL_ADDRESS, or \`address\`.`,
      { cause: error },
    );
  }
}

const knownToIt = ['address', 'server', 'dataConverter'] as const;

export interface ServerConnection {
  readonly connection: ConnectionLike;
  readonly namespace: string;
  close(): Promise<void>;
}

/** A Temporal client of the user is never closed here. */
export function connectionOf(client: Client, given: object): ServerConnection {
  const doubled = knownToIt.find((name) => (given as Readonly<Record<string, unknown>>)[name] !== undefined);
  if (doubled !== undefined)
    throw new HoldfastError('config-invalid', `connect: give ${doubled} to the Temporal client, or leave client out. Both were given.`);
  return { connection: client.connection, namespace: client.options.namespace, close: () => Promise.resolve() };
}

interface Workflows {
  readonly workflow: WorkflowClient;
  readonly converter: LoadedDataConverter;
}

/** A second `Client` would apply the connection's plugins twice, so other compression gets only a workflow client. */
export function workflowsOf({ workflow, connection, options: { loadedDataConverter } }: Client, compress: boolean | undefined): Workflows {
  const converter = loadedWithCompression(loadedDataConverter, compress);
  if (converter === loadedDataConverter) return { workflow, converter };
  return { workflow: new WorkflowClient({ ...workflow.options, connection, dataConverter: converter }), converter };
}
