import { BlockList, isIP } from 'node:net';
import { HoldfastError } from '../../contract/errors';
import { shown } from '../../contract/shown';

/** 'public' (https to the internet), 'loopback' (this machine), or an origin such as 'https://hooks.example.com'. */
export type PushTarget = 'public' | 'loopback' | (string & {});

export interface AllowedUrl {
  readonly url: URL;
  readonly mayConnect: (address: string) => boolean;
}

const longestUrl = 2000;

/** Throws `push-refused`. `mayConnect` checks addresses at the connection. */
export function allowedUrl(given: string, to: readonly PushTarget[]): AllowedUrl {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const name = shown(given.length > 200 ? `${given.slice(0, 200)}…` : given);
  if (url === undefined || given.length > longestUrl || !/^https?:$/.test(url.protocol))
    throw refused(`${name} is no URL for notifications. It must begin with https: or http:, and have at most ${longestUrl} characters.`);
  if (url.username !== '' || url.password !== '')
    throw refused('The URL for notifications has a user or a password. Use `authentication`.');
  if (to.includes(url.origin)) return { url, mayConnect: () => true };
  const literal = hostOf(url);
  if (to.includes('loopback') && (literal === 'localhost' || isLoopback(literal))) return { url, mayConnect: isLoopback };
  if (to.includes('public') && url.protocol === 'https:' && (isIP(literal) === 0 || isPublic(literal)))
    return { url, mayConnect: isPublic };
  throw refused(`Notifications may not go to ${shown(url.origin)}.`);
}

export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

export function refused(message: string): HoldfastError {
  return new HoldfastError('push-refused', message);
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Not the internet: https://www.iana.org/assignments/iana-ipv4-special-registry. */
const special = new BlockList();
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const)
  special.addSubnet(net, bits, 'ipv4');

/** The internet of IPv6 is global unicast without tunnels for IPv4 and addresses for documents. */
const unicast = new BlockList();
unicast.addSubnet('2000::', 3, 'ipv6');
for (const [net, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  special.addSubnet(net, bits, 'ipv6');

export function isPublic(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !special.check(address, 'ipv4');
  return family === 6 && unicast.check(address, 'ipv6') && !special.check(address, 'ipv6');
}

export function isLoopback(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && loopback.check(address, family === 4 ? 'ipv4' : 'ipv6');
}
