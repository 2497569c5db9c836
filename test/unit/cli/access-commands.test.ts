import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createKey,
  listKeys,
  printAudit,
  revokeKey,
  rotateKey,
  type AuditFlags,
  type CreateKeyFlags,
  type ListKeysFlags,
  type RotateKeyFlags,
} from '../../../cli/commands/access-commands';
import { findService } from '../../../cli/find-service';
import { runCommandLine } from '../../../cli/program';
import type { Terminal } from '../../../cli/terminal';
import type { AuditEntry } from '../../../contract/access';
import { FileStore } from '../../../service/store/file-store';
import { Keys } from '../../../service/access/keys';
import { errorOf, errorSaying } from '../../support/failures';
import { recordedTerminal } from '../../support/recorded-terminal';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-keys-')));
const before = { ...process.env };
const agents = `const { defineAgent } = require('holdfast/workflow');
exports.helper = defineAgent({ name: 'helper', description: '', instructions: '', model: 'openai/gpt-5', tools: [] });`;
const configuration = (access: string): string => {
  const file = join(folder, `holdfast.config.${access.length}.js`);
  writeFileSync(file, `module.exports = { agents: './agents.js', tenant: 'acme'${access} };`);
  return file;
};
writeFileSync(join(folder, 'agents.js'), agents);
const config = configuration(", access: { roles: { clerk: ['runs:start'] } }");

beforeAll(() => {
  process.env['HOLDFAST_DIR'] = join(folder, 'data');
  for (const name of ['HOLDFAST_REDIS_URL', 'HOLDFAST_TENANT', 'HOLDFAST_URL']) delete process.env[name];
});
afterAll(() => {
  process.env = before;
  rmSync(folder, { recursive: true, force: true });
});

interface Done {
  readonly code: number;
  readonly out: readonly string[];
  readonly err: string;
}

async function run(command: (terminal: Terminal) => Promise<number>): Promise<Done> {
  const terminal = recordedTerminal({ live: false });
  const code = await command(terminal);
  const lines = terminal.written().split('\n').slice(0, -1);
  const isError = (line: string): boolean => line.startsWith('error: ');
  return { code, out: lines.filter((line) => !isError(line)), err: lines.filter(isError).join('\n') };
}

const create = (name: string, flags: CreateKeyFlags) => run((terminal) => createKey(terminal, name, { config, ...flags }));
const rotate = (id: string, flags: RotateKeyFlags = {}) => run((terminal) => rotateKey(terminal, id, { config, ...flags }));
const revoke = (id: string) => run((terminal) => revokeKey(terminal, id, { config }));
const list = (flags: ListKeysFlags = {}) => run((terminal) => listKeys(terminal, { config, ...flags }));
const audit = (flags: AuditFlags = {}) => run((terminal) => printAudit(terminal, { config, ...flags }));
const store = (): FileStore => new FileStore(join(folder, 'data', 'store'));

describe('holdfast keys', () => {
  it('makes, lists, rotates and revokes keys without a service, and the audit log has the acts', async () => {
    const made = await create('anna', { roles: 'operator, clerk', expires: '90d' });
    const [key = '', ...more] = made.out;
    expect([made.code, more]).toEqual([0, []]);
    expect(made.err).toContain('of anna (tenant acme, roles operator, clerk) lasts until ');
    expect(made.err).toContain('export HOLDFAST_KEY=<the key>');
    expect(made.err).not.toContain(key.slice(12, 55));
    const keys = new Keys(store());
    expect(await keys.identify(key)).toMatchObject({ tenant: 'acme', user: 'anna', roles: ['operator', 'clerk'] });
    const id = key.slice(3, 11);

    const rotated = await rotate(id, { keep: '1h', json: true });
    const { key: second, id: secondId } = JSON.parse(rotated.out.join('\n')) as { key: string; id: string };
    expect(await keys.identify(second)).toMatchObject({ user: 'anna' });

    const table = (await list()).out;
    expect(table[0]).toMatch(/^ID +NAME +TENANT +ROLES +CREATED +EXPIRES +LAST USED$/);
    expect(table[1]).toMatch(new RegExp(`^${id} +anna +acme +operator,clerk +\\S+ \\S+ UTC +in 59 min +`));
    expect(JSON.parse((await list({ json: true, tenant: 'acme' })).out.join('\n'))).toMatchObject({
      keys: [{ id }, { id: secondId }],
    });
    expect((await list({ tenant: 'other' })).out).toEqual(['There are no keys.']);

    expect((await revoke(id)).out).toEqual([`The key ${id} of anna is revoked.`]);
    await expect(keys.identify(key)).rejects.toThrow('unknown or revoked');
    await expect(revoke(id)).rejects.toEqual(errorOf('key-unknown'));

    const entries = (await audit({ since: '1h' })).out.map((line) => JSON.parse(line) as AuditEntry);
    const who = { tenant: 'acme', proof: 'command line', for: 'anna', roles: ['operator', 'clerk'] };
    expect(entries).toMatchObject([
      { what: 'key-made', key: id, ...who },
      { what: 'key-rotated', key: secondId, ...who },
      { what: 'key-revoked', key: id, ...who },
    ]);
    expect((await audit({ tenant: 'other' })).out).toEqual([]);
    expect(readFileSync(join(folder, 'data', 'store', 'audit.jsonl'), 'utf8')).not.toContain('hf_');
  });

  it.each([
    [
      'a role of nobody, with its likely meaning',
      config,
      'operater',
      'The role "operater" allows no action, and counts only where a policy or an approval names it. Did you mean operator?',
    ],
    [
      'a configuration without access',
      configuration(''),
      'reader',
      'The configuration has no `access`, so the service asks for no key. Add `access: {}`.',
    ],
    [
      'keys that are off',
      configuration(', access: { keys: false, identify: () => undefined }'),
      'reader',
      'The configuration has `keys: false` in `access`, so the service refuses all keys.',
    ],
  ])('makes the key and gives a hint about %s', async (name, file, role, hint) => {
    const made = await create(name, { roles: role, config: file });
    expect(made.code).toBe(0);
    expect(made.err).toContain(hint);
    expect(await new Keys(store()).identify(made.out[0] ?? '')).toMatchObject({ user: name, roles: [role] });
  });

  it('refuses roles that are only commas, no time, and an unknown id', async () => {
    await expect(create('bob', { roles: ', ,' })).rejects.toEqual(errorOf('key-refused', 'A key has 1 to 50 roles, not 0.'));
    await expect(audit({ since: 'soon' })).rejects.toEqual(errorSaying('request-invalid', 'since must be a time'));
    await expect(rotate('abc')).rejects.toEqual(errorOf('key-unknown'));
  });

  it.each([
    ['no roles', ['keys', 'create', 'bob'], "required option '--roles <roles>' not specified"],
    ['no duration', ['keys', 'create', 'bob', '--roles', 'reader', '--expires', 'soon'], '--expires "soon" is no duration'],
    ['an empty tenant', ['audit', '--tenant', ''], '--tenant is empty'],
  ])('refuses %s before the configuration is read', async (_, args, message) => {
    const refused = await run((terminal) => runCommandLine(args, terminal));
    expect([refused.code, refused.out]).toEqual([1, []]);
    expect(refused.err).toContain(message);
  });
});

describe('a command that talks to a service', () => {
  it('sends the key of HOLDFAST_KEY, and none without the variable', async () => {
    const sent: (string | null)[] = [];
    const spy = jest.spyOn(globalThis, 'fetch').mockImplementation(async (_, init) => {
      sent.push(new Headers(init?.headers).get('authorization'));
      return Response.json({ agents: [] });
    });
    for (const environment of [{ HOLDFAST_KEY: 'hf_key' }, {}]) await (await findService('http://127.0.0.1:1', environment)).agents();
    spy.mockRestore();
    expect(sent).toEqual(['Bearer hf_key', null]);
  });
});
