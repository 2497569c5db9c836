import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { withoutCredentials } from '../contract/credentials';
import { HoldfastError } from '../contract/errors';
import { databasesIn } from '../host/server/server-record';
import type { Environment } from '../host/configuration';
import { urlProblem } from '../host/check-settings';
import { isServiceStarting, recordedService } from './processes/service-record';
import { FoundService } from './found-service';

interface SearchPatience {
  /** How long a process of this directory may take to begin a start. Undefined: no wait. */
  readonly ms?: number;
  readonly say: (text: string) => void;
}

const noPatience: SearchPatience = { ms: 0, say: () => undefined };

/**
 * Order: --url, environment, directory, usual address. A directory with runs never leads to the usual address, where another project may
 * have equal run ids.
 */
export async function findService(
  url: string | undefined,
  environment: Environment = process.env,
  patience: SearchPatience = noPatience,
): Promise<FoundService> {
  if (url !== undefined) {
    const problem = urlProblem(url);
    if (problem !== undefined) throw new HoldfastError('command-invalid', `--url is '${withoutCredentials(url)}'. ${problem}`);
    return addressed(url, environment);
  }
  const port = environment['HOLDFAST_PORT'];
  // With port 0 only the record of the service has the port.
  const named = port === '0' ? environment['HOLDFAST_URL'] : environment['HOLDFAST_URL'] || environment['HOLDFAST_HOST'] || port;
  const directory = resolve(environment['HOLDFAST_DIR'] || '.holdfast');
  if (named) {
    const url = await usualUrl(environment);
    if (!environment['HOLDFAST_URL'] && !(await isAnswering(url))) await startedService(directory, patience);
    return addressed(url, environment);
  }
  // The next command may run in a shell without this environment.
  const found = (url: string): FoundService =>
    environment['HOLDFAST_DIR'] ? addressed(url, environment) : new FoundService(url, [], keyIn(environment));
  const recorded = recordedService(directory);
  if (recorded !== undefined) return found(recorded);
  const ownRuns = !environment['TEMPORAL_ADDRESS'] && databasesIn(directory).length > 0;
  const usual = ownRuns ? undefined : await usualUrl(environment);
  if (usual !== undefined && (await isAnswering(usual))) {
    patience.say(`No service runs on ${directory}. This is the one at ${usual}, of another directory.`);
    return new FoundService(usual, [], keyIn(environment));
  }
  const started = await startedService(directory, patience);
  if (started !== undefined) return found(started);
  if (usual === undefined)
    throw new HoldfastError('service-unreachable', `No service runs on the directory ${directory}, which has the runs of this project.`);
  return new FoundService(usual, [], keyIn(environment));
}

async function usualUrl(environment: Environment): Promise<string> {
  const { readConfiguration } = await import('../host/configuration.js');
  return readConfiguration(environment).url;
}

/** For a service that starts at the same time, as after `npm start &`. */
async function startedService(directory: string, { ms, say }: SearchPatience): Promise<string | undefined> {
  if (ms === undefined) return undefined;
  let said = false;
  for (const began = Date.now(); ; await delay(100)) {
    const isStarting = isServiceStarting(directory);
    const url = recordedService(directory);
    if (url !== undefined || (!isStarting && Date.now() - began >= ms)) return url;
    if (!said && (isStarting || Date.now() - began > shortMs)) {
      said = true;
      say(isStarting ? 'The service is starting; waiting for it.' : 'No service runs here; waiting a moment for one that starts.');
    }
  }
}

const shortMs = 500;

async function isAnswering(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health`, { signal: AbortSignal.timeout(shortMs) })).ok;
  } catch {
    return false;
  }
}

function addressed(url: string, environment: Environment): FoundService {
  return new FoundService(url.replace(/\/+$/, ''), ['--url', url], keyIn(environment));
}

function keyIn({ HOLDFAST_KEY: key }: Environment): { readonly key?: string } {
  return key ? { key } : {};
}
