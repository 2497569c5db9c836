import { parseDuration } from '../../contract/duration';
import { HoldfastError } from '../../contract/errors';
import type { ManifestRequest, McpTool, ToolFacts } from '../../contract/manifest';
import { mcpServerOf } from '../../contract/mcp-names';
import { tenantOf } from '../../contract/names';
import type { JsonObject } from '../../contract/messages/messages';
import type { CallToolInput, McpCall } from '../../contract/record/wire';
import type { ToolCallContext } from '../tools/define-tool';
import { ToolRegistry } from '../tools/tools';
import type { GateTurn } from '../limits/gate';
import type { Caller } from '../limits/turns';
import { McpExecution, sessionOf } from './call';
import type { McpServerOptions } from './options';
import { McpSchema } from './options';
import type { McpOffer, McpOfferedTool } from './server';
import { McpServer } from './server';

const mostRegistries = 500;

export class McpServers {
  private readonly servers: ReadonlyMap<string, McpServer>;
  private readonly registries = new Map<string, ToolRegistry>();

  /** `before`: unchanged servers stay connected. */
  constructor(given: Readonly<Record<string, McpServerOptions>>, before?: McpServers) {
    const parsed = McpSchema.safeParse(given);
    const [issue] = parsed.error?.issues ?? [];
    if (issue !== undefined) throw new HoldfastError('config-invalid', `\`${['mcp', ...issue.path].join('.')}\` ${issue.message}.`);
    this.servers = new Map(
      Object.entries(given).map(([name, options]) => [name, before?.same(name, options) ?? new McpServer(name, options)]),
    );
    for (const [name, server] of before?.servers ?? []) if (this.servers.get(name) !== server) server.retire();
  }

  get names(): readonly string[] {
    return [...this.servers.keys()];
  }

  longest(usual: number): number {
    return Math.max(0, ...[...this.servers.values()].map(({ options: { timeout } }) => parseDuration(timeout ?? '') ?? usual));
  }

  async offerOf(name: string, tenant: string, checked?: readonly string[]): Promise<McpOffer> {
    const server = this.servers.get(name);
    if (server === undefined) throw new HoldfastError('tool-unknown', `This worker has no MCP server "${name}".`);
    return server.of(tenant).offer(checked);
  }

  /** Those of the names that a server offers. Throws for a `required` name that its server does not offer. */
  async offered(
    tenant: string,
    names: readonly string[],
    required: readonly string[],
    kept: ManifestRequest['mcp'] = {},
  ): Promise<readonly McpOfferedTool[]> {
    const isKept = (name: string): boolean => Object.hasOwn(kept, name) && this.servers.has(kept[name]?.server ?? '');
    const asked = [...new Set(names.flatMap((name) => (isKept(name) ? [] : (mcpServerOf(this.servers.keys(), name) ?? []))))];
    const offers = new Map(await Promise.all(asked.map(async (name) => [name, await this.offerOf(name, tenant, names)] as const)));
    return names.flatMap((name) => {
      if (isKept(name)) return { name, effectBy: 'nobody', ...kept[name] } as McpOfferedTool;
      const server = mcpServerOf(this.servers.keys(), name);
      const offer = server === undefined ? undefined : offers.get(server);
      const found = offer?.tools.find((tool) => tool.name === name);
      if (found === undefined && offer !== undefined && required.includes(name)) throw notOffered(name, server ?? '', offer);
      return found ?? [];
    });
  }

  /** The tool of a call, as it was when the run was prepared. Undefined: the worker lacks the server. */
  toolOf({ tool, mcp }: CallToolInput & { readonly mcp: McpCall }, defaults: ToolFacts): ToolRegistry | undefined {
    const server = this.servers.get(mcp.server);
    if (server === undefined) return undefined;
    const key = JSON.stringify([tool, mcp]);
    const known = this.registries.get(key) ?? registryOf([[tool, server, mcp]], defaults);
    if (this.registries.size >= mostRegistries) this.registries.clear();
    this.registries.set(key, known);
    return known;
  }

  /** Undefined: the server takes many calls at a time. */
  async turn({ server }: McpCall, workflowId: string, caller: Caller): Promise<GateTurn | undefined> {
    return this.servers.get(server)?.of(tenantOf(workflowId)).turn(sessionOf(workflowId), caller);
  }

  registryOf(tools: readonly McpOfferedTool[], defaults: ToolFacts): ToolRegistry {
    return registryOf(
      tools.map((tool) => [tool.name, this.servers.get(tool.server) as McpServer, { ...tool, effect: tool.effect ?? defaults.effect }]),
      defaults,
    );
  }

  async close(): Promise<void> {
    await Promise.all([...this.servers.values()].map((server) => server.close()));
  }

  private same(name: string, options: McpServerOptions): McpServer | undefined {
    const server = this.servers.get(name);
    if (server === undefined || server.options.forTenant !== options.forTenant) return undefined;
    return JSON.stringify(server.options) === JSON.stringify(options) ? server : undefined;
  }
}

type ToolToCall = Pick<McpTool, 'server' | 'tool' | 'inputSchema'> & Pick<McpCall, 'effect'> & Partial<Pick<McpTool, 'description'>>;

function registryOf(tools: readonly (readonly [name: string, McpServer, ToolToCall])[], defaults: ToolFacts): ToolRegistry {
  const made = tools.map(([name, server, mcp]) => {
    const { timeout } = server.options;
    const tool = {
      description: mcp.description ?? '',
      inputSchema: mcp.inputSchema,
      effect: mcp.effect,
      ...(timeout === undefined ? {} : { timeout }),
      enhanced: true,
      execute: (input: unknown, call: ToolCallContext) =>
        new McpExecution(server.of(call.principal.tenant), { timeoutMs: defaults.timeoutMs, ...mcp }, input as JsonObject, call).run(),
    };
    return [name, tool] as const;
  });
  return new ToolRegistry(Object.fromEntries(made), defaults);
}

function notOffered(name: string, server: string, { tools, refused }: McpOffer): HoldfastError {
  const why = refused.map(({ tool, problem }) => ` Refused is ${JSON.stringify(tool)}: ${problem}.`).join('');
  const list = tools.map((tool) => tool.name).join(', ') || 'none';
  return new HoldfastError('tool-unknown', `The agent names the tool "${name}". The MCP server "${server}" offers: ${list}.${why}`);
}
