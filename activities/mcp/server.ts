import type { Tool } from '@modelcontextprotocol/client';
import { HoldfastError, messageOf } from '../../contract/errors';
import type { Effect, McpTool } from '../../contract/manifest';
import { mcpToolName, mcpToolProblem } from '../../contract/mcp-names';
import { withoutCredentials } from '../../contract/credentials';
import type { Json } from '../../contract/messages/messages';
import { readSchema } from '../schemas/schema';
import type { McpConnection } from './connection';
import type { McpServerOptions } from './options';

const idleMs = 300_000;
const mostIdle = 100;

export interface McpOfferedTool extends McpTool {
  readonly name: string;
  readonly effect: Effect | undefined;
  readonly effectBy: 'configuration' | 'hint' | 'nobody';
}

export interface McpOffer {
  readonly protocol: string;
  readonly tools: readonly McpOfferedTool[];
  readonly refused: readonly { readonly tool: string; readonly problem: string }[];
}

interface OwnConnection {
  opened: Promise<McpConnection>;
  last: Promise<unknown>;
  calls: number;
  timer?: NodeJS.Timeout;
}

export class McpServer {
  private shared: Promise<McpConnection> | undefined;
  private readonly own = new Map<string, OwnConnection>();
  private readonly all = new Set<McpConnection>();
  private isRetired = false;

  constructor(
    readonly name: string,
    readonly options: McpServerOptions,
  ) {}

  /** Asks the server each time, so that new runs see its changes. */
  async offer(): Promise<McpOffer> {
    return this.withShared(async (connection) => {
      try {
        return this.offerOf(await connection.tools(), connection.protocol);
      } catch (error) {
        this.forget(connection);
        const text = `The MCP server "${this.name}" does not list its tools: ${withoutCredentials(messageOf(error))}`;
        throw new HoldfastError('mcp-unreachable', text, { cause: error });
      }
    });
  }

  /** `work` is called once. A later call gets a new connection if `work` forgets its connection. */
  async with<T>(run: string, work: (connection: McpConnection) => Promise<T>): Promise<T> {
    if (this.options.perRun !== true) return this.withShared(work);
    const own = this.ownOf(run);
    own.calls += 1;
    clearTimeout(own.timer);
    const turn = own.last.then(async () => {
      let connection = await own.opened.catch(() => undefined);
      if (connection?.isOpen !== true) connection = await (own.opened = this.open());
      return this.using(connection, work);
    });
    own.last = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      own.calls -= 1;
      if (own.calls === 0) this.rest(run, own);
    }
  }

  forget(connection: McpConnection): void {
    connection.isOpen = false;
    if (connection.open === 0) void this.closed(connection);
  }

  retire(): void {
    this.isRetired = true;
    this.shared = undefined;
    for (const connection of this.all) if (connection.open === 0) void this.closed(connection);
  }

  async close(): Promise<void> {
    this.isRetired = true;
    for (const { timer } of this.own.values()) clearTimeout(timer);
    await Promise.all([...this.all].map((connection) => this.closed(connection)));
  }

  private async withShared<T>(work: (connection: McpConnection) => Promise<T>): Promise<T> {
    for (;;) {
      const opened = this.shared;
      const connection = await opened?.catch(() => undefined);
      if (connection?.isOpen === true) return this.using(connection, work);
      if (this.shared === opened) return this.using(await (this.shared = this.open()), work);
    }
  }

  private async using<T>(connection: McpConnection, work: (connection: McpConnection) => Promise<T>): Promise<T> {
    connection.open += 1;
    try {
      return await work(connection);
    } finally {
      connection.open -= 1;
      if (connection.open === 0 && (!connection.isOpen || (this.isRetired && this.options.perRun !== true))) void this.closed(connection);
    }
  }

  private ownOf(run: string): OwnConnection {
    const known = this.own.get(run);
    if (known !== undefined) return known;
    const none = Promise.reject<McpConnection>(new Error('Not opened yet.'));
    none.catch(() => undefined);
    const made: OwnConnection = { opened: none, last: Promise.resolve(), calls: 0 };
    this.own.set(run, made);
    return made;
  }

  private rest(run: string, own: OwnConnection): void {
    own.timer = setTimeout(() => this.dropOwn(run, own), this.isRetired ? 0 : idleMs).unref();
    this.own.delete(run);
    this.own.set(run, own);
    const [oldest, ...others] = [...this.own].filter(([, { calls }]) => calls === 0);
    if (oldest !== undefined && others.length >= mostIdle) this.dropOwn(...oldest);
  }

  private dropOwn(run: string, own: OwnConnection): void {
    clearTimeout(own.timer);
    this.own.delete(run);
    void own.opened.then(
      (connection) => this.closed(connection),
      () => undefined,
    );
  }

  private async open(): Promise<McpConnection> {
    for (const dead of this.all) if (!dead.isOpen && dead.open === 0) void this.closed(dead);
    const { McpConnection: Connection } = await import('./connection.js');
    const connection = await Connection.to(this.name, this.options);
    this.all.add(connection);
    return connection;
  }

  private async closed(connection: McpConnection): Promise<void> {
    this.all.delete(connection);
    await connection.close();
  }

  private offerOf(listed: readonly Tool[], protocol: string): McpOffer {
    const refused: { tool: string; problem: string }[] = [];
    const tools: McpOfferedTool[] = [];
    for (const tool of listed) {
      const name = mcpToolName(this.name, tool.name);
      const isDouble = listed.some((other) => other !== tool && mcpToolName(this.name, other.name) === name);
      const problem =
        mcpToolProblem(this.name, tool.name) ?? (isDouble ? `another tool would also be "${name}"` : undefined) ?? toolProblem(tool);
      if (problem !== undefined) refused.push({ tool: tool.name, problem });
      else tools.push({ name, server: this.name, tool: tool.name, ...told(tool), ...this.effectOf(tool) });
    }
    return { protocol, tools, refused };
  }

  private effectOf({ name, annotations = {} }: Tool): Pick<McpOfferedTool, 'effect' | 'effectBy'> {
    const { effects = {} } = this.options;
    const configured = Object.hasOwn(effects, name) ? effects[name] : undefined;
    if (configured !== undefined) return { effect: configured, effectBy: 'configuration' };
    const { readOnlyHint, idempotentHint, destructiveHint } = annotations;
    const effect = readOnlyHint === true ? 'none' : idempotentHint === true ? 'idempotent' : destructiveHint === true ? 'once' : undefined;
    return { effect, effectBy: effect === undefined ? 'nobody' : 'hint' };
  }
}

function told({ description = '', title, inputSchema }: Tool): Pick<McpTool, 'description' | 'inputSchema'> {
  return { description: description === '' ? (title ?? '') : description, inputSchema: inputSchema as Json };
}

function toolProblem({ inputSchema, execution }: Tool): string | undefined {
  if (execution?.taskSupport === 'required') return 'it works only as a task';
  try {
    readSchema(inputSchema, 'input', (problem) => {
      throw new Error(`its inputSchema is refused: ${problem}`);
    });
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
