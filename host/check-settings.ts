import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { messageOf } from '../contract/errors';

const nameOfHost =
  /^(?=.{1,253}\.?$)[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?(?:\.[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)*\.?$/;

export function hostProblem(host: string): string | undefined {
  if (isIP(host) !== 0) return undefined;
  if (/^\d+(\.\d+)*$/.test(host) || !nameOfHost.test(host))
    return 'It must be an IP address or the name of a host, without a scheme, a port or brackets.';
  return undefined;
}

/** No message quotes the address, which may contain a password. */
export function addressProblem(address: string): string | undefined {
  const rule = 'It must be host:port, without a scheme, a user or a path.';
  const [, bracketed, plain, port] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d{1,5}))?$/.exec(address) ?? [];
  if (bracketed !== undefined ? isIP(bracketed) !== 6 : plain === undefined || hostProblem(plain) !== undefined) return rule;
  return port !== undefined && (Number(port) < 1 || Number(port) > 65_535) ? 'Its port must be a whole number from 1 to 65535.' : undefined;
}

export function taskQueueProblem(name: string): string | undefined {
  if (!isPlain(name, 200)) return 'It must be 1 to 200 characters, without spaces around them and without control characters.';
  if (/[.:]/.test(name)) return 'It must be without . and :, which the name of a Worker Deployment cannot have.';
  return name.startsWith('/_sys/') || name.startsWith('__') ? 'Names that begin with /_sys/ or __ belong to Temporal.' : undefined;
}

export function namespaceProblem(name: string): string | undefined {
  return isPlain(name, 1000) && !/\s/.test(name) ? undefined : 'It must be the name of a namespace, without spaces and control characters.';
}

function isPlain(name: string, most: number): boolean {
  return name.trim() === name && name !== '' && name.length <= most && !/[\p{Cc}\p{Cs}]/u.test(name);
}

export function urlProblem(text: string): string | undefined {
  const url = /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) return 'It must be a URL that begins with http:// or https://.';
  if (url.username !== '' || url.password !== '') return 'It has a user or a password, which no request can be sent with; leave them out.';
  return url.search === '' && url.hash === '' ? undefined : 'Leave out what begins with ? or #: routes are put behind the address.';
}

export function isLoopback(address: string): boolean {
  const host = address === '::1' ? address : address.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Links and redirects carry secrets, so plain http is for loopback only. */
export function publicUrlProblem(text: string): string | undefined {
  const problem = urlProblem(text);
  if (problem !== undefined) return problem;
  const { protocol, host } = new URL(text);
  return protocol === 'https:' || isLoopback(host) ? undefined : 'It must begin with https://, except on loopback.';
}

export function redisUrlProblem(text: string): string | undefined {
  return /^rediss?:\/\//i.test(text) && URL.canParse(text) ? undefined : 'It must be a URL that begins with redis:// or rediss://.';
}

export function headerProblem(value: string): string | undefined {
  return /^[\t\x20-\x7e]*$/.test(value) && value.trim() === value
    ? undefined
    : 'It has characters that no header can be sent with, such as a line break.';
}

export function certificateProblem(pem: Uint8Array): string | undefined {
  return pemProblem(() => new X509Certificate(pem), 'certificate');
}

export function keyProblem(pem: Uint8Array): string | undefined {
  return pemProblem(() => createPrivateKey(Buffer.from(pem)), 'private key without a passphrase');
}

function pemProblem(read: () => unknown, what: string): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return `It must be a ${what} in PEM: ${messageOf(error).split('\n')[0]}.`;
  }
}

const secretPrefix = 'whsec_';

export function pushSecretProblem(secrets: string): string | undefined {
  const all = secrets.split(' ').filter((one) => one !== '');
  if (all.length > 0 && all.length <= 5 && all.every(isSigningSecret)) return undefined;
  return `It must be one to five secrets with spaces between them, each ${signingSecretForm}.`;
}

export const signingSecretForm = '"whsec_" and the base64 of 24 to 64 bytes, such as of `openssl rand -base64 32`';

export function isSigningSecret(secret: string): boolean {
  const text = secret.slice(secretPrefix.length);
  const key = Buffer.from(text, 'base64');
  return secret.startsWith(secretPrefix) && key.length >= 24 && key.length <= 64 && key.toString('base64') === text;
}

/** With a smaller cache, Temporal's core drops tasks of evicted runs, and the server repeats a task after 10 s. */
export const leastCachedRuns = 2;
