import type { Command } from 'commander';
import { config, filled, json, lasting } from './option-values';
import type { AuditFlags, CreateKeyFlags, ListKeysFlags, RotateKeyFlags, StoreFlags } from './commands/access-commands';
import type { Terminal } from './terminal';

const onlyTenant = ['--tenant <tenant>', 'only this tenant (default: all tenants)', filled('--tenant')] as const;

/** These commands need no service: they use the store of the configuration. */
export function addAccessCommands(program: Command, terminal: Terminal, exit: (code: number) => void): void {
  const load = () => import('./commands/access-commands.js');
  const keys = program.command('keys').description('API keys of the service.');
  keys
    .command('create <name>')
    .description('Makes an API key, and shows the key once.')
    .requiredOption('--roles <roles>', 'roles, separated by commas: reader, operator, approver, admin or others', filled('--roles'))
    .option('--tenant <tenant>', 'tenant of the key (default: HOLDFAST_TENANT)', filled('--tenant'))
    .option('--expires <time>', 'time after which the key ends, for example 90d (default: never)', lasting('--expires'))
    .option(...config)
    .option(...json)
    .action(async (name: string, flags: CreateKeyFlags) => exit(await (await load()).createKey(terminal, name, flags)));
  keys
    .command('list')
    .description('Lists the API keys, oldest first, without their secrets.')
    .option(...onlyTenant)
    .option(...config)
    .option(...json)
    .action(async (flags: ListKeysFlags) => exit(await (await load()).listKeys(terminal, flags)));
  keys
    .command('rotate <id>')
    .description('Makes a second key with the same name and roles. The earlier key ends soon.')
    .option('--keep <time>', 'time that the earlier key still works (default: 24h)', lasting('--keep'))
    .option(...config)
    .option(...json)
    .action(async (id: string, flags: RotateKeyFlags) => exit(await (await load()).rotateKey(terminal, id, flags)));
  keys
    .command('revoke <id>')
    .description('Ends an API key at once.')
    .option(...config)
    .action(async (id: string, flags: StoreFlags) => exit(await (await load()).revokeKey(terminal, id, flags)));
  program
    .command('audit')
    .description('Prints the audit log, one JSON line for each act, oldest first.')
    .option(...onlyTenant)
    .option('--since <time>', 'lines since the time: 2h, 3d, 2026-11-23 or 2026-11-23T08:00:00Z', filled('--since'))
    .option(...config)
    .action(async (flags: AuditFlags) => exit(await (await load()).printAudit(terminal, flags)));
}
