import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { HoldfastError, messageOf } from '../../contract/errors';
import { namedSystemError } from '../../host/system-errors';
import { loadProject } from '../../service/project/load-project';
import { showFinding } from '../doctor/finding';
import { askMcp, type AskedMcp } from '../doctor/mcp';
import { mcpTypes } from '../mcp-types';
import { exitCodes, told, writeJson, writeTable, type JsonFlag } from '../output';
import type { Terminal } from '../terminal';

export interface McpTypesFlags {
  readonly config?: string;
  readonly tenant?: string;
}

export type ListMcpFlags = McpTypesFlags & JsonFlag;

export async function listMcp(terminal: Terminal, { json, ...flags }: ListMcpFlags): Promise<number> {
  const asked = await askServers(flags);
  const findings = asked.flatMap((one) => one.findings.filter(({ status }) => status !== 'ok'));
  const isFine = asked.every(({ offer }) => offer !== undefined) && findings.every(({ status }) => status === 'warning');
  const code = isFine ? exitCodes.done : exitCodes.failed;
  if (json === true) {
    const answerOf = ({ offer, findings: [first, ...others] }: AskedMcp): object =>
      offer === undefined ? { code: first?.code, problem: first?.message } : { ...offer, findings: others };
    writeJson(terminal, Object.fromEntries(asked.map((one) => [one.server, answerOf(one)])));
    return code;
  }
  if (asked.length === 0) return told(terminal, 'The configuration has no MCP servers.');
  const rows = asked.flatMap(({ offer }) => offer?.tools ?? []);
  if (rows.length > 0)
    writeTable(
      terminal,
      rows.map(({ name, effect = 'none', effectBy, description }) => [name, `${effect} (${saidBy[effectBy]})`, description]),
      ['TOOL', 'EFFECT', 'DESCRIPTION'],
    );
  for (const finding of findings) showFinding(terminal, finding);
  return code;
}

const saidBy = { configuration: 'configuration', hint: 'hint', nobody: 'no entry, no hint' } as const;

export async function writeMcpTypes(terminal: Terminal, file: string | undefined, flags: McpTypesFlags): Promise<number> {
  const tools = (await askServers(flags)).flatMap(({ offer, findings: [problem] }) => {
    if (offer === undefined) throw new HoldfastError(problem?.code ?? 'internal', problem?.message ?? '');
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

async function askServers({ config, tenant }: McpTypesFlags): Promise<readonly AskedMcp[]> {
  return askMcp(await loadProject(config), tenant);
}
