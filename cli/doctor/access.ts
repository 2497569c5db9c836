import { lookup } from 'node:dns/promises';
import { HoldfastError, messageOf } from '../../contract/errors';
import { isLoopback } from '../../host/check-settings';
import type { TemporalSettings } from '../../host/connection';
import { waysIn } from '../../service/access/options';
import type { Issuer } from '../../service/access/parts';
import { isLoopbackAddress } from '../../service/http/check-host';
import type { ProjectConfig } from '../../service/project/project-config';
import type { ProcessSettings } from '../processes/process-settings';
import { checkedBy, fine, found, type Finding } from './finding';

const patienceMs = 3_000;

export async function checkAccess(
  access: ProjectConfig['access'],
  { host, publicUrl }: Pick<ProcessSettings, 'host' | 'publicUrl'>,
  hasKey: () => Promise<boolean>,
): Promise<readonly Finding[]> {
  const isLocal = isLoopbackAddress(host);
  if (access === undefined)
    return [
      isLocal
        ? fine('access', 'There is no `access`: everybody on this machine is trusted, and names are claims.')
        : found('access', 'problem', 'access-missing', `The service would listen on ${host}, and nothing says who may do what.`),
    ];
  const { issuers = [], identify } = access;
  const findings = [fine('access', `Callers are identified by ${waysIn(access)}.`)];
  if (issuers.length === 0 && identify === undefined && !(await hasKey()))
    findings.push({
      ...found('access', 'warning', 'identity-missing', 'There is no API key yet, so nobody can use the service.'),
      fix: 'Make the first key with `holdfast keys create NAME --role admin`.',
    });
  for (const issuer of issuers) findings.push(await checkedBy('issuer', () => answerOf(issuer)));
  if (publicUrl === undefined && (!isLocal || issuers.some(({ login }) => login !== undefined)))
    findings.push(
      found('access', 'warning', 'config-invalid', '`http.publicUrl` is missing: logins and links need the address of the service.'),
    );
  return findings;
}

async function answerOf({ issuer, jwksUri, login }: Issuer): Promise<string> {
  const url = login === undefined && jwksUri !== undefined ? jwksUri : `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const refuse = (why: string): never => {
    throw new HoldfastError('identity-unavailable', `The issuer ${issuer} cannot be used: ${why}.`);
  };
  const response = await fetch(url, { signal: AbortSignal.timeout(patienceMs) }).catch((error: unknown) => refuse(reasonOf(error)));
  const document = (await response.json().catch(() => undefined)) as { readonly issuer?: unknown } | undefined;
  if (!response.ok || document === undefined) return refuse(`${url} answers ${response.status}, and not with a document in JSON`);
  if (url !== jwksUri && document.issuer !== issuer) return refuse(`its document names the issuer ${String(document.issuer)}`);
  return `The issuer ${issuer} answers.`;
}

function reasonOf(error: unknown): string {
  const { cause } = error as { readonly cause?: unknown };
  return messageOf(cause ?? error);
}

/** Everybody who reaches Temporal can act on all runs, in any name. */
export async function checkReach({ address, tls, apiKey }: Pick<TemporalSettings, 'address' | 'tls' | 'apiKey'>): Promise<Finding> {
  const rule = 'Only services and workers may reach Temporal, which knows nothing of `access`';
  if (apiKey !== undefined || tls) return fine('reach', `${rule}. ${address} has ${apiKey === undefined ? 'TLS' : 'an API key'}.`);
  const host = address.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  const found = await lookup(host, { all: true }).catch(() => []);
  const open = found.find((one) => !isLoopback(one.address));
  if (open === undefined) return fine('reach', `${rule}. ${address} ${found.length === 0 ? 'has no address here' : 'is on this machine'}.`);
  return {
    check: 'reach',
    status: 'warning',
    message: `${rule}. ${address} is ${open.address}, without TLS and without an API key.`,
    code: 'server-open',
    fix: 'Let only services and workers through by a network rule, or turn on mutual TLS.',
  };
}
