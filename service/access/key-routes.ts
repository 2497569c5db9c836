import type { Hono } from 'hono';
import { z } from 'zod';
import type { KnownCaller } from '../../client/connection/authority';
import type { ApiKey, AuditedAct } from '../../contract/access';
import { allActions } from '../../contract/access';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { shown } from '../../contract/shown';
import { Routes, done, ok } from '../http/routes';
import { roles, shortText } from '../http/schemas';
import type { AccessParts } from './access';
import { aboutKey, whoOf } from './audit';

const KeyBody = z.strictObject({ name: shortText, roles, expires: shortText.optional() });
const RotateBody = z.strictObject({ keep: shortText.optional() });

/** A tenant is always the caller's: keys of other tenants count as unknown. */
export function keyRoutes({ keys, audit }: Pick<AccessParts, 'keys' | 'audit'>): Hono {
  const may = 'keys:manage';
  const note = (what: AuditedAct, by: KnownCaller, key: ApiKey): Promise<void> => audit.write({ what, ...whoOf(by), ...aboutKey(key) });
  const make = { may, summary: 'Makes an API key.', body: KeyBody, answers: ok('MadeKey', 'The key, which is shown only once.') } as const;
  const rotate = {
    may,
    summary: 'Makes a second key with the same name and roles. The earlier key expires soon.',
    body: RotateBody,
    answers: ok('MadeKey', 'The new key, which is shown only once.'),
  } as const;
  return new Routes('Service')
    .add('GET /', { may, summary: 'Lists the API keys of the tenant.', answers: ok('Keys', 'All keys.') }, async ({ client }) => ({
      keys: await keys.list(callerOf(client).tenant),
    }))
    .add('POST /', make, async ({ body, client }) => {
      const caller = callerOf(client);
      checkRoles(caller, body.roles);
      const made = await keys.create({ ...defined(body), tenant: caller.tenant });
      await note('key-made', caller, made);
      return made;
    })
    .add('POST /:id/rotate', rotate, async ({ id, body, client }) => {
      const caller = callerOf(client);
      const { tenant } = caller;
      checkRoles(caller, (await keys.find(id, tenant)).roles);
      const made = await keys.rotate(id, { ...defined(body), tenant });
      await note('key-rotated', caller, made);
      return made;
    })
    .add('DELETE /:id', { may, summary: 'Revokes an API key at once.', answers: done }, async ({ id, client }) => {
      const caller = callerOf(client);
      await note('key-revoked', caller, await keys.revoke(id, caller.tenant));
      return { id };
    }).app;
}

/** Otherwise a key would lift its maker above the maker's own roles, or see runs that `identify` hides from the maker. */
function checkRoles({ user, roles: held, may, mayWith }: KnownCaller, given: readonly string[]): void {
  if (mayWith !== undefined)
    throw new HoldfastError(
      'action-forbidden',
      `${user} may not make keys: \`identify\` limits ${user} to some runs, and a key has no such limit.`,
    );
  const lacking = allActions.every((action) => may.has(action)) ? undefined : given.find((role) => !held.includes(role));
  if (lacking !== undefined)
    throw new HoldfastError(
      'action-forbidden',
      `${user} may not give the role ${shown(lacking)} to a key: only an admin gives roles of others.`,
    );
}

export function callerOf({ caller }: { readonly caller?: KnownCaller | undefined }): KnownCaller {
  if (caller !== undefined) return caller;
  throw new HoldfastError('access-missing', 'The configuration has no `access`, so the service has no keys and no audit log.');
}
