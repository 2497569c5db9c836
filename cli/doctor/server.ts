import type { ConnectionLike } from '@temporalio/client';
import { HoldfastError } from '../../contract/errors';
import type { Configuration, Environment } from '../../host/configuration';
import { withConnection, type TemporalSettings } from '../../host/connection';
import { checkSearchAttributes } from '../../host/search-attributes';
import { presentServerBinary, isOldServer, oldestServer } from '../../host/server/server-binary';
import { openHttpOf } from '../../host/server/open-http';
import { findLiveServer } from '../../host/server/server-record';
import { checkRetention } from '../../worker/check-retention';
import { checkClock } from './clock';
import { checkedBy, fine, found, foundBy, type Finding } from './finding';

const patienceMs = 5_000;

export async function checkServer(configuration: Configuration, environment: Environment): Promise<readonly Finding[]> {
  try {
    const settings = configuration.server ?? (await embeddedServer(configuration));
    if (settings === undefined) return [await checkBinary(configuration.directory, environment)];
    const connected = await withConnection(
      settings,
      (connection) => connection.withDeadline(Date.now() + 4 * patienceMs, () => checkConnected(connection, settings)),
      patienceMs,
    );
    const open = await openHttpOf(settings.address);
    return [...connected, ...(open === undefined ? [] : [foundBy('server', open, 'warning')])];
  } catch (error) {
    return [foundBy('server', error)];
  }
}

async function embeddedServer({ directory, namespace }: Configuration): Promise<TemporalSettings | undefined> {
  const record = await findLiveServer(directory);
  return record && { address: record.address, namespace };
}

async function checkBinary(directory: string, environment: Environment): Promise<Finding> {
  const none = `TEMPORAL_ADDRESS is not set, and no server runs in ${directory}`;
  const binary = await presentServerBinary(environment);
  if (binary !== undefined)
    return fine('server', `${none}. \`holdfast dev\` and \`holdfast server\` start ${binary.serverVersion} of ${binary.path}.`);
  return found(
    'server',
    'warning',
    'server-unavailable',
    `${none}. There is no \`temporal\` binary here yet: the first start downloads or builds one.`,
  );
}

export async function checkConnected(connection: ConnectionLike, { address, namespace }: TemporalSettings): Promise<readonly Finding[]> {
  const version = await checkedBy('server', () => versionOf(connection, address));
  const attributes = await checkedBy('namespace', async () => {
    await checkSearchAttributes(connection, namespace);
    return `Namespace '${namespace}' has all search attributes.`;
  });
  if (attributes.code === 'server-unreachable') return [version, attributes];
  const retention = await checkedBy('retention', async () => {
    await checkRetention(connection, namespace);
    return `Namespace '${namespace}' keeps runs that have ended long enough.`;
  });
  return [version, attributes, retention, await checkClock(connection, namespace)];
}

async function versionOf(connection: ConnectionLike, address: string): Promise<string> {
  const { serverVersion } = await connection.workflowService.getSystemInfo({});
  if (!isOldServer(serverVersion)) return `Temporal server ${serverVersion} answers at ${address}.`;
  throw new HoldfastError(
    'server-outdated',
    `The Temporal server at ${address} is ${serverVersion || 'of an unknown version'}. Holdfast needs ${oldestServer} or newer.`,
  );
}
