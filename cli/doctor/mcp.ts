import { McpServers } from '../../activities/mcp/servers';
import type { McpOffer } from '../../activities/mcp/server';
import { codeOf } from '../../contract/errors';
import { defaultTenant } from '../../contract/names';
import type { Project } from '../../service/project/load-project';
import { fine, found, foundBy, type Finding } from './finding';

export function usualTenant({ config }: Pick<Project, 'config'>): string {
  return process.env['HOLDFAST_TENANT'] || config.tenant || defaultTenant;
}

export async function checkMcp(project: Pick<Project, 'config'>): Promise<readonly Finding[]> {
  const { config } = project;
  const servers = new McpServers(config.mcp ?? {});
  try {
    const findings = await Promise.all(
      servers.names.map(async (name) => {
        try {
          return findingsOf(name, await servers.offerOf(name, usualTenant(project)), Object.keys(config.mcp?.[name]?.effects ?? {}));
        } catch (error) {
          return [foundBy('mcp', error, codeOf(error) === 'mcp-forbidden' ? 'warning' : 'problem')];
        }
      }),
    );
    return findings.flat();
  } finally {
    await servers.close();
  }
}

function findingsOf(server: string, { protocol, tools, refused }: McpOffer, effects: readonly string[]): readonly Finding[] {
  const warned = (problem: string): Finding => found('mcp', 'warning', 'config-invalid', `The MCP server "${server}": ${problem}`);
  const noEffect = tools.filter(({ effectBy }) => effectBy === 'nobody').map(({ tool }) => tool);
  const unknown = effects.filter((name) => !tools.some(({ tool }) => tool === name));
  return [
    fine('mcp', `The MCP server "${server}" offers ${tools.length} tools by protocol ${protocol}.`),
    ...(noEffect.length === 0 ? [] : [warned(`lost calls of ${noEffect.join(', ')} are made again. \`effects\` says nothing else.`)]),
    ...(unknown.length === 0 ? [] : [warned(`\`effects\` names ${unknown.join(', ')}, which the server does not offer.`)]),
    ...refused.map(({ tool, problem }) => warned(`the tool ${JSON.stringify(tool)} is refused: ${problem}.`)),
  ];
}
