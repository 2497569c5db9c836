import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DataConverter } from '@temporalio/common';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { TemporalSettings } from '../../host/connection';
import { openHttpOf } from '../../host/server/open-http';
import { findLiveServer } from '../../host/server/server-record';
import { withCompression } from '../../host/payloads/compression';
import { DirectoryDriver, snapshotStorage } from '../../host/snapshot-storage';
import { beginServer, type BegunServer } from './begin-server';
import type { Lifetime } from './lifetime';
import type { ProcessSettings } from './process-settings';
import { recordStart } from './service-record';
import { makeUsable } from './usable-directory';

/** A process that lost its server ends within this time. */
const lostServerMs = 2_000;

export interface OpenServer {
  readonly settings: TemporalSettings;
  readonly embedded: boolean;
  readonly webUi?: string;
  readonly dataConverter: DataConverter;
}

/** Only `dev` starts an embedded server: a deployed worker without an address must fail. */
export async function openServer(
  settings: ProcessSettings,
  lifetime: Lifetime,
  mayStart: boolean,
  begun?: BegunServer,
): Promise<OpenServer> {
  const { configuration, project, compress } = settings;
  const { directory, server } = configuration;
  const { storage } = project.config;
  if (server === undefined && !mayStart && (!existsSync(directory) || (await findLiveServer(directory)) === undefined)) {
    throw new HoldfastError(
      'server-unreachable',
      `TEMPORAL_ADDRESS is not set, and no embedded server runs in ${directory}. \`holdfast dev\` or \`holdfast server\` starts one.`,
    );
  }
  makeUsable(directory);
  // Commands wait for a service with a record.
  if (mayStart) await lifetime.onEnd('record of the start', recordStart(directory));
  if (server !== undefined) {
    void openHttpOf(server.address).then((open) => open !== undefined && settings.onProblem(open));
    return {
      settings: server,
      embedded: false,
      dataConverter: withCompression(storage === undefined ? undefined : snapshotStorage(storage), compress),
    };
  }
  const { server: starting, ended } = begun ?? beginServer(configuration, lifetime.terminal);
  const embedded = await starting;
  void ended.then((error) => lifetime.fail(error, lostServerMs));
  await lifetime.onEnd('Temporal server', () => embedded.stop());
  return {
    settings: { address: embedded.address, namespace: embedded.namespace },
    embedded: true,
    ...defined({ webUi: embedded.uiAddress }),
    dataConverter: withCompression(snapshotStorage(storage ?? new DirectoryDriver(join(directory, 'snapshots'))), compress ?? true),
  };
}
