import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { McpOffer } from '../../activities/mcp/server';
import { McpServers } from '../../activities/mcp/servers';
import { codeOf, HoldfastError, messageOf, type ErrorCode } from '../../contract/errors';
import { namedSystemError } from '../../host/system-errors';
import { loadProject } from '../../service/project/load-project';
import { usualTenant } from '../doctor/mcp';
import { mcpTypes } from '../mcp-types';
import { exitCodes, told, writeJson, writeTable, type JsonFlag } from '../output';
import type { Terminal } from '../terminal';

export interface McpTypesFlags {
  readonly config?: string;
  readonly tenant?: string;
}

export type ListMcpFlags = McpTypesFlags & JsonFlag;

type Asked = readonly [server: string, McpOffer | { readonly code: ErrorCode; readonly problem: string }];

export async function listMcp(terminal: Terminal, { json, ...flags }: ListMcpFlags): Promise<number> {
  const asked = await askServers(flags);
  const isFine = asked.every(([, offer]) => 'tools' in offer);
  const code = isFine ? exitCodes.done : exitCodes.failed;
  if (json === true) {
    writeJson(terminal, Object.fromEntries(asked));
    return code;
  }
  if (asked.length === 0) return told(terminal, 'The configuration has no MCP servers.');
  const rows = asked.flatMap(([, offer]) => ('tools' in offer ? offer.tools : []));
  if (rows.length > 0)
    writeTable(
      terminal,
      rows.map(({ name, effect = 'none', effectBy, description }) => [name, `${effect} (${effectBy})`, description]),
      ['TOOL', 'EFFECT', 'DESCRIPTION'],
    );
  for (const [server, offer] of asked) {
    if ('problem' in offer) terminal.write(`${terminal.paint.red(server)}  ${offer.code}: ${offer.problem}`);
    else
      for (const { tool, problem } of offer.refused)
        terminal.write(`${terminal.paint.yellow(server)}  ${JSON.stringify(tool)}: ${problem}`);
  }
  return code;
}

export async function writeMcpTypes(terminal: Terminal, file: string | undefined, flags: McpTypesFlags): Promise<number> {
  const offers = await askServers(flags);
  const tools = offers.flatMap(([, offer]) => {
    if ('problem' in offer) throw new HoldfastError(offer.code, offer.problem);
    return offer.tools;
  });
  const text = mcpTypes(tools);
  if (file === undefined) {
    terminal.writeText(text.trimEnd());
    return exitCodes.done;
  }
  try {
    writeFileSync(resolve(file), text);
  } catch (error) {
    throw (
      namedSystemError(error, `writing ${file}`) ?? new HoldfastError('command-invalid', `${file} cannot be written: ${messageOf(error)}`)
    );
  }
  return told(terminal, `Wrote ${tools.length} tools to ${file}.`);
}

async function askServers({ config, tenant }: McpTypesFlags): Promise<readonly Asked[]> {
  const project = await loadProject(config);
  const servers = new McpServers(project.config.mcp ?? {});
  try {
    return await Promise.all(
      servers.names.map(async (name): Promise<Asked> => {
        const offer = await servers
          .offerOf(name, tenant ?? usualTenant(project))
          .catch((error: unknown) => ({ code: codeOf(error) ?? 'internal', problem: messageOf(error) }));
        return [name, offer];
      }),
    );
  } finally {
    await servers.close();
  }
}
