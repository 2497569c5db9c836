import type { ConnectionOptions } from '@temporalio/client';
import type { StorageDriver } from '@temporalio/common';
import { SimplePlugin } from '@temporalio/plugin';
import { anything, checkOptions } from '../contract/check';
import { HoldfastError } from '../contract/errors';
import { shown } from '../contract/shown';
import { channelArgs } from './connection';
import { snapshotStorage } from './snapshot-storage';

export interface ClientPluginOptions {
  /** Where large snapshots of runs go: the same for workers and clients. */
  readonly storage?: StorageDriver;
}

/** A Temporal plugin for clients and their connections: payloads of runs in external storage can be read, and large pages of histories. */
export class ClientPlugin extends SimplePlugin {
  constructor(options: ClientPluginOptions) {
    const { storage } = checkOptions<ClientPluginOptions>('holdfastClientPlugin', options, { storage: anything }, 'config-invalid');
    checkStorage(storage);
    super({ name: 'holdfast', ...(storage === undefined ? {} : { dataConverter: snapshotStorage(storage) }) });
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
