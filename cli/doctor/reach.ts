import { setTimeout as delay } from 'node:timers/promises';
import { codeOf, messageOf } from '../../contract/errors';
import type { Configuration } from '../../host/configuration';
import { checkPortFree } from '../../host/server/free-port';
import { isServiceAlone, processAt } from '../processes/service-record';
import { fine, found, foundBy, type Finding } from './finding';

export async function checkServicePort(
  directory: string,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Finding> {
  if (port === 0) return fine('port', 'The service takes a free port.');
  try {
    await checkPortFree(port, host);
    return fine('port', `The port ${port} of ${host} is free for the service.`);
  } catch (error) {
    const own = codeOf(error) === 'port-in-use' ? processAt(directory, port) : undefined;
    return own === undefined
      ? foundBy('port', error)
      : fine('port', `The service of this directory listens on the port ${port} of ${host}, as process ${own}.`);
  }
}

const patienceMs = 3_000;

export async function checkRedis({ redisUrl: url, directory }: Pick<Configuration, 'redisUrl' | 'directory'>): Promise<readonly Finding[]> {
  if (url !== undefined) return [await checkRedisAt(url)];
  if (!isServiceAlone(directory)) return [];
  const message =
    'The service of this directory has no worker in its process, and HOLDFAST_REDIS_URL is not set: readers get whole messages.';
  return [found('redis', 'warning', 'deltas-not-shared', message)];
}

async function checkRedisAt(url: string): Promise<Finding> {
  const { createClient } = await import('@redis/client');
  const client = createClient({ url, socket: { connectTimeout: patienceMs, reconnectStrategy: false } });
  client.on('error', () => undefined);
  const late = delay(patienceMs, undefined, { ref: false }).then(() => {
    throw new Error(`it said nothing for ${patienceMs / 1000} s`);
  });
  try {
    await Promise.race([client.connect().then(() => client.ping()), late]);
    return fine('redis', 'The Redis of HOLDFAST_REDIS_URL answers.');
  } catch (error) {
    return found('redis', 'problem', 'limits-not-shared', `Redis at HOLDFAST_REDIS_URL cannot be used: ${messageOf(error)}.`);
  } finally {
    client.destroy();
  }
}
