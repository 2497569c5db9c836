import type { Principal } from '../../contract/access';
import { isString } from '../../contract/check';
import { HoldfastError } from '../../contract/errors';
import { defaultTenant, isTenant } from '../../contract/names';
import { isPersonName } from '../../contract/people';
import type { Issuer } from './parts';

type ClaimSet = Readonly<Record<string, unknown>>;

const mostRoles = 100;

/** The claims of a verified token. A missing tenant refuses the token: the default tenant would be another customer's. */
export function principalOf({ issuer, claims = {} }: Issuer, all: ClaimSet, way: 'token' | 'login'): Principal {
  const tenant = claims.tenant === undefined ? defaultTenant : valueOf('tenant', claims.tenant, all);
  const user = valueOf('user', claims.user ?? 'sub', all);
  const roles = rolesOf(valueOf('roles', claims.roles ?? 'roles', all));
  if (!isTenant(tenant)) throw refused('tenant');
  if (!isPersonName(user)) throw refused('user');
  if (roles === undefined) throw refused('roles');
  return { tenant, user, roles, proof: `${way}:${issuer}` };
}

function valueOf(field: string, source: string | ((all: ClaimSet) => unknown), all: ClaimSet): unknown {
  if (isString(source)) return Object.hasOwn(all, source) ? all[source] : undefined;
  try {
    return source(all);
  } catch (cause) {
    throw new HoldfastError('identity-invalid', `The function \`claims.${field}\` of the configuration fails for the token.`, { cause });
  }
}

function rolesOf(value: unknown = []): readonly string[] | undefined {
  const list: unknown = isString(value) ? value.split(' ').filter((role) => role !== '') : value;
  const isList =
    Array.isArray(list) && list.length <= mostRoles && list.every((role) => isString(role) && role.length > 0 && role.length <= 200);
  return isList ? [...new Set(list as readonly string[])] : undefined;
}

function refused(field: string): HoldfastError {
  return new HoldfastError('identity-invalid', `The token has no claim that names its ${field}, or the claim has another form.`);
}
