import { resolve } from 'node:path';
import { HoldfastError } from '../contract/plain/errors';
import { recordedService } from './processes/service-record';
import { ServiceClient } from './service-client';

/** The service at --url, else the one that the environment names, else the one that runs in this directory, else the usual address. */
export async function findService(
  url: string | undefined,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<ServiceClient> {
  if (url !== undefined) {
    if (!/^https?:\/\//.test(url) || !URL.canParse(url))
      throw new HoldfastError('command-invalid', `--url is '${url}'. It must be a URL that begins with http:// or https://.`);
    return new ServiceClient(url.replace(/\/+$/, ''), ` --url ${url}`);
  }
  const named = environment['HOLDFAST_URL'] || environment['HOLDFAST_HOST'] || environment['HOLDFAST_PORT'];
  const recorded = named ? undefined : recordedService(resolve(environment['HOLDFAST_DIR'] || '.holdfast'));
  if (recorded !== undefined) return new ServiceClient(recorded);
  const { readConfiguration } = await import('../host/configuration.js');
  return new ServiceClient(readConfiguration(environment).url);
}
