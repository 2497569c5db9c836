import { resolve } from 'node:path';
import { withoutCredentials } from '../contract/credentials';
import { HoldfastError } from '../contract/errors';
import { databasesIn } from '../host/server/server-record';
import { urlProblem } from '../host/check-settings';
import { recordedService } from './processes/service-record';
import { ServiceClient } from './service-client';

/**
 * The service at --url, else the one that the environment names, else the one that runs in this directory, else the usual address. Never the
 * usual address where this directory has runs of its own: the same id may be a run of another project there.
 */
export async function findService(
  url: string | undefined,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<ServiceClient> {
  if (url !== undefined) {
    const problem = urlProblem(url);
    if (problem !== undefined) throw new HoldfastError('command-invalid', `--url is '${withoutCredentials(url)}'. ${problem}`);
    return addressed(url);
  }
  const named = environment['HOLDFAST_URL'] || environment['HOLDFAST_HOST'] || environment['HOLDFAST_PORT'];
  const directory = resolve(environment['HOLDFAST_DIR'] || '.holdfast');
  const recorded = named ? undefined : recordedService(directory);
  // Where the environment led here, it need not be there when the next command is pasted.
  if (recorded !== undefined) return environment['HOLDFAST_DIR'] ? addressed(recorded) : new ServiceClient(recorded);
  if (!named && !environment['TEMPORAL_ADDRESS'] && hasRunsOfItsOwn(directory))
    throw new HoldfastError('service-unreachable', `No service runs on the directory ${directory}, which has the runs of this project.`);
  const { readConfiguration } = await import('../host/configuration.js');
  const { url: usual } = readConfiguration(environment);
  return named ? addressed(usual) : new ServiceClient(usual);
}

/** A project with an embedded server has its runs in its own database. The service at the usual address may be another project's. */
function hasRunsOfItsOwn(directory: string): boolean {
  try {
    return databasesIn(directory).length > 0;
  } catch {
    return false;
  }
}

/** Commands that are shown say where the service is. */
function addressed(url: string): ServiceClient {
  return new ServiceClient(url.replace(/\/+$/, ''), ['--url', url]);
}
