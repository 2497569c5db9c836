import type { Client, ConnectionLike } from '@temporalio/client';
import { WorkflowClient } from '@temporalio/client';
import type { LoadedDataConverter } from '@temporalio/common';
import { HoldfastError } from '../contract/errors';
import { loadedWithCompression } from '../host/payloads/compression';

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

export interface Workflows {
  readonly workflow: WorkflowClient;
  readonly converter: LoadedDataConverter;
}

/** A second `Client` would apply the connection's plugins twice, so other compression gets only a workflow client. */
export function workflowsOf({ workflow, connection, options: { loadedDataConverter } }: Client, compress: boolean | undefined): Workflows {
  const converter = loadedWithCompression(loadedDataConverter, compress);
  if (converter === loadedDataConverter) return { workflow, converter };
  return { workflow: new WorkflowClient({ ...workflow.options, connection, dataConverter: converter }), converter };
}
