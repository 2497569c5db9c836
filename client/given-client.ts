import type { Client, ConnectionLike } from '@temporalio/client';
import type { DataConverter, LoadedDataConverter } from '@temporalio/common';
import { HoldfastError } from '../contract/errors';
import { shown } from '../contract/shown';

/** Options of `connect` that say what a Temporal client already knows. */
const knownToIt = ['address', 'server', 'dataConverter'] as const;

/** A connection to the server, as a client of Holdfast needs it. */
export interface ServerConnection {
  readonly connection: ConnectionLike;
  readonly namespace: string;
  close(): Promise<void>;
}

/** What a Temporal client of the user's own brings: it stays the user's, and is never closed here. */
export function connectionOf(client: Client, given: object): ServerConnection {
  if (!isClient(client))
    throw new HoldfastError('config-invalid', `connect: client must be a Client of @temporalio/client, and is ${shown(client)}.`);
  const doubled = knownToIt.find((name) => (given as Readonly<Record<string, unknown>>)[name] !== undefined);
  if (doubled !== undefined)
    throw new HoldfastError('config-invalid', `connect: give ${doubled} to the Temporal client, or leave client out. Both were given.`);
  return { connection: client.connection, namespace: client.options.namespace, close: () => Promise.resolve() };
}

/** How a Temporal client reads and writes payloads. */
export function convertersOf({ options }: Client): { readonly given: DataConverter; readonly loaded: LoadedDataConverter } {
  return { given: options.dataConverter, loaded: options.loadedDataConverter };
}

function isClient(value: unknown): boolean {
  const { connection, workflow, options } = (value ?? {}) as Partial<Record<keyof Client, unknown>>;
  return [connection, workflow, options].every((part) => typeof part === 'object' && part !== null);
}
