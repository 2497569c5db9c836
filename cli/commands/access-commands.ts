import type { ApiKey, AuditedAct, MadeKey } from '../../contract/access';
import { builtInRoles } from '../../contract/access';
import { defined } from '../../contract/defined';
import { shown } from '../../contract/shown';
import { similarNames } from '../../contract/similar-names';
import { aboutKey, Audit } from '../../service/access/audit';
import { sinceOf } from '../../service/access/audit-routes';
import { Keys } from '../../service/access/keys';
import { openStore } from '../../service/store/open-store';
import type { AccessOptions } from '../../service/access/parts';
import { exitCodes, told, writeJson, writeTable, type JsonFlag } from '../output';
import { readSettings } from '../processes/process-settings';
import type { Terminal } from '../terminal';
import { relativeTime, timeText } from '../times';

export interface StoreFlags {
  readonly config?: string;
}

export interface TenantFlags extends StoreFlags {
  readonly tenant?: string;
}

export interface CreateKeyFlags extends TenantFlags, JsonFlag {
  readonly roles: string;
  readonly expires?: string;
}

export type ListKeysFlags = TenantFlags & JsonFlag;
export type RotateKeyFlags = StoreFlags & JsonFlag & { readonly keep?: string };
export type AuditFlags = TenantFlags & { readonly since?: string };

interface OpenKeys {
  readonly keys: Keys;
  readonly audit: Audit;
  readonly access: AccessOptions | undefined;
  readonly tenant: string;
  readonly note: (what: AuditedAct, key: ApiKey) => Promise<void>;
}

/** Whoever can write to the store runs the machine, so the first key needs no login. */
const by = 'command line';

async function withKeys(flags: StoreFlags, act: (open: OpenKeys) => Promise<number>): Promise<number> {
  const { project, configuration, logger, tenant } = await readSettings(flags);
  const { access } = project.config;
  const { store, close } = openStore(project.config.store, configuration);
  try {
    const audit = new Audit(store, logger);
    const note: OpenKeys['note'] = (what, key) => audit.write({ what, tenant: key.tenant, proof: by, ...aboutKey(key) });
    return await act({ keys: new Keys(store), audit, access, tenant, note });
  } finally {
    close();
  }
}

export function createKey(terminal: Terminal, name: string, { roles: listed, expires, ...flags }: CreateKeyFlags): Promise<number> {
  return withKeys(flags, async ({ keys, access, tenant, note }) => {
    const roles = [...new Set(listed.split(',').map((role) => role.trim()))].filter((role) => role !== '');
    const made = await keys.create({ name, tenant: flags.tenant ?? tenant, roles, ...defined({ expires }) });
    await note('key-made', made);
    for (const hint of hintsFor(roles, access)) terminal.writeError(terminal.paint.yellow(hint));
    return showMade(terminal, made, flags);
  });
}

export function listKeys(terminal: Terminal, flags: ListKeysFlags): Promise<number> {
  return withKeys(flags, async ({ keys }) => {
    const found = await keys.list(flags.tenant);
    if (flags.json === true) return writeJson(terminal, { keys: found });
    if (found.length === 0) return told(terminal, 'There are no keys.');
    const now = Date.now();
    const ago = (time: string | undefined, never: string): string => (time === undefined ? never : relativeTime(Date.parse(time), now));
    const rows = found.map(({ id, name, tenant, roles, created, expires, lastUsed }) => [
      ...[id, name, tenant, roles.join(','), timeText(created)],
      ...[ago(expires, 'never'), ago(lastUsed, 'never')],
    ]);
    writeTable(terminal, rows, ['ID', 'NAME', 'TENANT', 'ROLES', 'CREATED', 'EXPIRES', 'LAST USED']);
    return exitCodes.done;
  });
}

export function rotateKey(terminal: Terminal, id: string, { keep, ...flags }: RotateKeyFlags): Promise<number> {
  return withKeys(flags, async ({ keys, note }) => {
    const made = await keys.rotate(id, defined({ keep }));
    await note('key-rotated', made);
    const { expires = '' } = await keys.find(id);
    if (flags.json !== true) terminal.writeError(terminal.paint.dim(`The earlier key ${id} works until ${timeText(expires)}.`));
    return showMade(terminal, made, flags);
  });
}

export function revokeKey(terminal: Terminal, id: string, flags: StoreFlags): Promise<number> {
  return withKeys(flags, async ({ keys, note }) => {
    const revoked = await keys.revoke(id);
    await note('key-revoked', revoked);
    return told(terminal, `The key ${id} of ${revoked.name} is revoked.`);
  });
}

export function printAudit(terminal: Terminal, { since, tenant, ...flags }: AuditFlags): Promise<number> {
  return withKeys(flags, async ({ audit }) => {
    for await (const entry of audit.read(defined({ tenant, since: sinceOf(since) }))) terminal.write(JSON.stringify(entry));
    return exitCodes.done;
  });
}

/** Only the key goes to stdout, so that a script can take the key. */
function showMade(terminal: Terminal, made: MadeKey, { json }: JsonFlag): number {
  if (json === true) return writeJson(terminal, made);
  const { id, name, tenant, roles, expires, key } = made;
  const end = expires === undefined ? 'without an end' : `until ${timeText(expires)}`;
  terminal.write(key);
  const lines = [
    `The key ${id} of ${name} (tenant ${tenant}, roles ${roles.join(', ')}) lasts ${end}. The key is not shown again.`,
    'For the commands: export HOLDFAST_KEY=<the key>. For requests: the header Authorization: Bearer <the key>.',
  ];
  for (const line of lines) terminal.writeError(terminal.paint.dim(line));
  return exitCodes.done;
}

function hintsFor(roles: readonly string[], access: AccessOptions | undefined): readonly string[] {
  const known = [...Object.keys(builtInRoles), ...Object.keys(access?.roles ?? {})];
  const strange = roles.filter((role) => !known.includes(role));
  return [
    ...(access === undefined ? ['The configuration has no `access`, so the service asks for no key. Add `access: {}`.'] : []),
    ...(access?.keys === false ? ['The configuration has `keys: false` in `access`, so the service refuses all keys.'] : []),
    ...strange.map((role) => {
      const [meant] = similarNames(role, known);
      const question = meant === undefined ? '' : ` Did you mean ${meant}?`;
      return `The role ${shown(role)} allows no action, and counts only where a policy or an approval names it.${question}`;
    }),
  ];
}
