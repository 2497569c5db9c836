import { cut } from './shown';
import { nameProblem } from './names';

/** The name of a tool of an MCP server, for agents and models. */
export function mcpToolName(server: string, tool: string): string {
  return `${server}_${tool.replace(/[^A-Za-z0-9_-]/g, '_')}`;
}

/** Undefined: models can call the tool. */
export function mcpToolProblem(server: string, tool: string): string | undefined {
  // Such a name could look like another name.
  if (/[\p{C}\p{Zl}\p{Zp}]/u.test(tool)) return `its name has control characters: ${JSON.stringify(cut(tool))}`;
  return nameProblem(mcpToolName(server, tool)) && `"${cut(mcpToolName(server, tool))}" is no name of a tool: use at most 64 characters`;
}

/** The server whose tool the name may be. */
export function mcpServerOf(servers: Iterable<string>, tool: string): string | undefined {
  for (const server of servers) if (tool.startsWith(`${server}_`)) return server;
  return undefined;
}

/** A tool's name must tell its server. */
export function mcpServersProblem(servers: readonly string[]): string | undefined {
  for (const server of servers) {
    const problem = nameProblem(server);
    if (problem !== undefined) return `${JSON.stringify(cut(server))} is no name of a server: ${problem}`;
    const longer = servers.find((other) => other.startsWith(`${server}_`));
    if (longer !== undefined) return `tools of "${longer}" could be tools of "${server}"; rename one of the servers`;
  }
  return undefined;
}
