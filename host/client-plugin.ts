import type { ConnectionOptions } from '@temporalio/client';
import type { StorageDriver } from '@temporalio/common';
import { SimplePlugin } from '@temporalio/plugin';
import { anything, checkOptions, flag } from '../contract/check';
import { HoldfastError } from '../contract/errors';
import { shown } from '../contract/shown';
import { channelArgs } from './connection';
import { withCompression } from './payloads/compression';
import { snapshotStorage } from './snapshot-storage';

export interface ClientPluginOptions {
  /** Holds large snapshots of runs: the same for workers and clients. */
  readonly storage?: StorageDriver;
  /** Compresses new data. Compressed data is always read. Default: no. */
  readonly compress?: boolean;
}

const forms = { storage: anything, compress: flag };

/** A Temporal plugin that reads compressed payloads, external storage and large pages of histories. */
export class ClientPlugin extends SimplePlugin {
  constructor(options: ClientPluginOptions) {
    const { storage, compress } = checkOptions<ClientPluginOptions>('holdfastClientPlugin', options, forms, 'config-invalid');
    checkStorage(storage);
    const stored = storage === undefined ? {} : snapshotStorage(storage);
    // A connection and its client may both have the plugin.
    super({ name: 'holdfast', dataConverter: (given) => withCompression({ ...given, ...stored }, compress) });
  }

  override configureConnection(options: ConnectionOptions): ConnectionOptions {
    return { ...options, channelArgs: { ...channelArgs, ...options.channelArgs } };
  }
}

function checkStorage(storage: unknown): void {
  const { store, retrieve } = (storage ?? {}) as { readonly store?: unknown; readonly retrieve?: unknown };
  if (storage === undefined || (typeof store === 'function' && typeof retrieve === 'function')) return;
  throw new HoldfastError('config-invalid', `storage must be a storage driver, with store and retrieve, and is ${shown(storage)}.`);
}
