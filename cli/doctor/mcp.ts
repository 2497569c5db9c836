import { McpServers } from '../../activities/mcp/servers';
import type { McpOffer } from '../../activities/mcp/server';
import { codeOf } from '../../contract/errors';
import { mcpServerOf } from '../../contract/mcp-names';
import { defaultTenant } from '../../contract/names';
import { similarNames } from '../../contract/similar-names';
import type { Project } from '../../service/project/load-project';
import { fine, found, foundBy, type Finding } from './finding';

type ProjectPart = Pick<Project, 'config' | 'facts'>;

export interface AskedMcp {
  readonly server: string;
  /** Undefined: the server gave none. A finding has the reason. */
  readonly offer?: McpOffer;
  readonly findings: readonly Finding[];
}

export async function checkMcp(project: ProjectPart): Promise<readonly Finding[]> {
  return (await askMcp(project)).flatMap(({ findings }) => findings);
}

export async function askMcp(project: ProjectPart, tenant?: string): Promise<readonly AskedMcp[]> {
  const { config } = project;
  const servers = new McpServers(config.mcp ?? {});
  const asTenant = tenant ?? (process.env['HOLDFAST_TENANT'] || config.tenant || defaultTenant);
  try {
    return await Promise.all(
      servers.names.map(async (server): Promise<AskedMcp> => {
        try {
          const offer = await servers.offerOf(server, asTenant);
          return { server, offer, findings: findingsOf(project, server, offer) };
        } catch (error) {
          return { server, findings: [foundBy('mcp', error, codeOf(error) === 'mcp-forbidden' ? 'warning' : 'problem')] };
        }
      }),
    );
  } finally {
    await servers.close();
  }
}

function findingsOf({ config, facts }: ProjectPart, server: string, { protocol, tools, refused }: McpOffer): readonly Finding[] {
  const { effects = {}, forTenant } = config.mcp?.[server] ?? {};
  const field = `\`mcp.${server}.effects\``;
  const known = tools.map(({ tool }) => tool);
  const offered = tools.map(({ name }) => name);
  const noEffect = tools.filter(({ effectBy }) => effectBy === 'nobody').map(({ tool }) => tool);
  const unknown = Object.keys(effects).filter((name) => !known.includes(name));
  const ofAgents = facts.tools.filter(({ kind, name }) => kind === 'mcp' && mcpServerOf(Object.keys(config.mcp ?? {}), name) === server);
  const missing = ofAgents.map(({ name }) => name).filter((name) => !offered.includes(name));
  const warned = (problem: string, fix: string): Finding => ({
    ...found('mcp', 'warning', 'config-invalid', `The MCP server "${server}": ${problem}`),
    fix,
  });
  const findings = [fine('mcp', `The MCP server "${server}" offers ${tools.length} tools by protocol ${protocol}.`)];
  if (noEffect.length > 0)
    findings.push(
      warned(`lost calls of ${noEffect.join(', ')} are made again, as no effect is known.`, `Add ${ticked(noEffect)} to ${field}.`),
    );
  if (unknown.length > 0) {
    const problem = `${field} names ${unknown.join(', ')}, which the server does not offer.${meantBy(unknown, known)}`;
    findings.push(warned(problem, `Correct or remove ${ticked(unknown)} in ${field}.`));
  }
  for (const { tool, problem } of refused)
    findings.push(warned(`the tool ${JSON.stringify(tool)} is refused: ${problem}.`, 'Correct the tool in the server.'));
  if (missing.length > 0) {
    const message = `Agents name ${missing.join(', ')}, which the MCP server "${server}" does not offer.${meantBy(missing, offered)}`;
    // Another tenant may have the tools.
    const status = forTenant === undefined ? 'problem' : 'warning';
    findings.push({ ...found('mcp', status, 'tool-unknown', message), fix: 'Correct the names in `tools` of the agents.' });
  }
  return findings;
}

function ticked(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

function meantBy(names: readonly string[], known: readonly string[]): string {
  const meant = [...new Set(names.flatMap((name) => similarNames(name, known).slice(0, 1)))];
  return meant.length === 0 ? '' : ` Did you mean ${meant.map((name) => `"${name}"`).join(', ')}?`;
}
