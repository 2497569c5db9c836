import { createHmac } from 'node:crypto';
import type { LookupFunction } from 'node:net';
import { lookup } from 'node:dns';
import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { isIP } from 'node:net';
import { HoldfastError } from '../../contract/errors';
import { limits } from '../../contract/limits';
import type { PushNotice } from '../../contract/task-push';
import { keptTimeout } from '../kept-timeout';
import type { AllowedUrl, PushTarget } from './addresses';
import { allowedUrl, hostOf, refused } from './addresses';

export interface SendSettings {
  readonly to: readonly PushTarget[];
  /** Secrets of Standard Webhooks. Undefined: no signature. */
  readonly secret: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly now?: number;
  readonly tryMs?: number;
}

class ReceiverGone extends Error {}

/** Sends once, follows no redirects, and does not read the answer's body. A status outside 200 to 299 is an error. */
export async function sendSigned(url: string, notice: PushNotice, settings: SendSettings): Promise<void> {
  const { to, secret, headers, signal, now = Date.now(), tryMs = limits.pushTryMs } = settings;
  const patience = keptTimeout(tryMs);
  const status = await post(allowedUrl(url, to), {
    headers: { 'user-agent': 'holdfast', ...signedHeaders({ ...notice, timestamp: Math.floor(now / 1000) }, secret), ...headers },
    body: notice.body,
    signal: signal === undefined ? patience : AbortSignal.any([signal, patience]),
  });
  if (status === 410) throw new ReceiverGone('The receiver answered 410: it wants no more notifications.');
  if (status < 200 || status > 299) throw new Error(`The receiver of notifications answered ${status}.`);
}

interface Posting {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

function post({ url, mayConnect }: AllowedUrl, { headers, body, signal }: Posting): Promise<number> {
  const host = hostOf(url);
  if (isIP(host) !== 0 && !mayConnect(host)) throw refused(`Notifications may not go to ${host}.`);
  const send = url.protocol === 'https:' ? secureRequest : plainRequest;
  const length = Buffer.byteLength(body);
  return new Promise((resolve, reject) => {
    const options = {
      method: 'POST',
      headers: { ...headers, 'content-length': length },
      signal,
      lookup: onlyTo(mayConnect),
      agent: false,
    } as const;
    const sent = send(url, options, (response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    sent.on('error', (error) => reject(signal.aborted ? new Error('The receiver of notifications did not answer in time.') : error));
    // After an answer such as 101, Node closes the connection without a response or an error.
    sent.on('close', () => reject(new Error('The receiver of notifications gave no answer.')));
    sent.end(body);
  });
}

/** Checks addresses at the connection, so a name cannot resolve to another address after the check. */
function onlyTo(mayConnect: (address: string) => boolean): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const found = error === null ? addresses : [];
      const forbidden = found.find(({ address }) => !mayConnect(address));
      const [first] = found;
      if (error !== null) done(error, '', 0);
      else if (forbidden !== undefined || first === undefined)
        done(refused(`Notifications may not go to ${hostname}: it is ${forbidden?.address ?? 'nowhere'}.`), '', 0);
      else if (options.all === true) done(null, [...found]);
      else done(null, first.address, first.family);
    });
  };
}

export function isFinal(error: unknown): boolean {
  return error instanceof ReceiverGone || (error instanceof HoldfastError && error.code === 'push-refused');
}

const secretPrefix = 'whsec_';

/** Each secret signs, so receivers can change their secrets one after another. `timestamp`: in Unix seconds. */
export function signedHeaders(
  { id, timestamp, body }: PushNotice & { readonly timestamp: number },
  secrets: string | undefined,
): Readonly<Record<string, string>> {
  const named = { 'webhook-id': id, 'webhook-timestamp': String(timestamp) };
  if (secrets === undefined) return named;
  const signatures = secrets.split(' ').flatMap((secret) => {
    if (secret === '') return [];
    const key = Buffer.from(secret.slice(secretPrefix.length), 'base64');
    return [`v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`];
  });
  return { ...named, 'webhook-signature': signatures.join(' ') };
}
