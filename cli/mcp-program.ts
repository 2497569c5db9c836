import type { Command } from 'commander';
import type { ListMcpFlags, McpTypesFlags } from './commands/mcp-commands';
import { config, filled, json } from './option-values';
import type { Terminal } from './terminal';

const tenant = ['--tenant <tenant>', 'tenant of the runs (default: HOLDFAST_TENANT)', filled('--tenant')] as const;

export function addMcpCommands(program: Command, terminal: Terminal, exit: (code: number) => void): void {
  const load = () => import('./commands/mcp-commands.js');
  const mcp = program.command('mcp').description('MCP servers of the configuration.');
  mcp
    .command('list')
    .description('Asks the servers for their tools, with names and effects.')
    .option(...config)
    .option(...tenant)
    .option(...json)
    .action(async (flags: ListMcpFlags) => exit(await (await load()).listMcp(terminal, flags)));
  mcp
    .command('types [file]')
    .description('Writes the types of the tools, for agentsFor.')
    .option(...config)
    .option(...tenant)
    .action(async (file: string | undefined, flags: McpTypesFlags) =>
      exit(await (await load()).writeMcpTypes(terminal, file === undefined ? undefined : filled('[file]')(file), flags)),
    );
}
