import type { Tool } from '@modelcontextprotocol/client';
import { HoldfastError, messageOf } from '../../contract/errors';
import type { Effect, McpTool } from '../../contract/manifest';
import { limits, utf8Length } from '../../contract/limits';
import { mcpToolName, mcpToolProblem } from '../../contract/mcp-names';
import { withoutCredentials } from '../../contract/credentials';
import type { Json } from '../../contract/messages/messages';
import { problemOfForeignSchema } from '../../contract/schema/schema-form';
import type { GateTurn } from '../limits/gate';
import { Gate } from '../limits/gate';
import type { Caller } from '../limits/turns';
import type { McpConnection } from './connection';
import type { McpServerOptions } from './options';
import { optionsFor } from './tenants';

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
  /** Calls share the session one by one, because a question of the server does not say whose call asks. */
  readonly gate: Gate;
  calls: number;
  timer?: NodeJS.Timeout;
}

export class McpServer {
  private shared: Promise<McpConnection> | undefined;
  private readonly own = new Map<string, OwnConnection>();
  private readonly all = new Set<McpConnection>();
  private readonly tenants = new Map<string, { readonly server: McpServer; readonly timer: NodeJS.Timeout }>();
  private readonly given = new WeakMap<McpConnection, string>();
  private isRetired = false;

  constructor(
    readonly name: string,
    readonly options: McpServerOptions,
    readonly tenant?: string,
  ) {}

  /** No connection serves two tenants if `forTenant` tells them apart. */
  of(tenant: string): McpServer {
    if (this.options.forTenant === undefined) return this;
    const known = this.tenants.get(tenant);
    known?.timer.refresh();
    if (known !== undefined) return known.server;
    const server = new McpServer(this.name, this.options, tenant);
    server.isRetired = this.isRetired;
    const drop = (): void => {
      this.tenants.delete(tenant);
      server.retire();
    };
    this.tenants.set(tenant, { server, timer: setTimeout(drop, idleMs).unref() });
    return server;
  }

  /** Asks the server each time, so that new runs see its changes. */
  async offer(): Promise<McpOffer> {
    await this.renewed();
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
    const own = this.entered(run);
    try {
      let connection = await own.opened.catch(() => undefined);
      if (connection?.isOpen !== true) connection = await (own.opened = this.open());
      return await this.using(connection, work);
    } finally {
      this.left(run, own);
    }
  }

  /** A call that waits for its turn has not been sent, so its own time has not begun. */
  async turn(run: string, caller: Caller): Promise<GateTurn | undefined> {
    if (this.options.perRun !== true) return undefined;
    const own = this.entered(run);
    try {
      const turn = await own.gate.take({ ...caller, tokens: 0 });
      const end = (): void => {
        turn.end();
        this.left(run, own);
      };
      return { end, giveBack: end };
    } catch (error) {
      this.left(run, own);
      throw error;
    }
  }

  forget(connection: McpConnection): void {
    connection.isOpen = false;
    if (connection.open === 0) void this.closed(connection);
  }

  retire(): void {
    this.isRetired = true;
    this.shared = undefined;
    for (const { server } of this.tenants.values()) server.retire();
    for (const connection of this.all) if (connection.open === 0) void this.closed(connection);
  }

  async close(): Promise<void> {
    this.isRetired = true;
    for (const { timer } of this.own.values()) clearTimeout(timer);
    for (const { timer } of this.tenants.values()) clearTimeout(timer);
    await Promise.all([
      ...[...this.all].map((connection) => this.closed(connection)),
      ...[...this.tenants.values()].map(({ server }) => server.close()),
    ]);
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

  private entered(run: string): OwnConnection {
    let own = this.own.get(run);
    if (own === undefined) {
      const none = Promise.reject<McpConnection>(new Error('Not opened yet.'));
      none.catch(() => undefined);
      own = { opened: none, gate: new Gate(`The session with "${this.name}" takes one call at a time`, { concurrent: 1 }), calls: 0 };
      this.own.set(run, own);
    }
    own.calls += 1;
    clearTimeout(own.timer);
    return own;
  }

  private left(run: string, own: OwnConnection): void {
    own.calls -= 1;
    if (own.calls > 0) return;
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
    const options = await optionsFor(this);
    const connection = await Connection.to(this.name, options);
    this.given.set(connection, JSON.stringify(options));
    this.all.add(connection);
    return connection;
  }

  /** New runs get a new connection if `forTenant` gives something new. */
  private async renewed(): Promise<void> {
    // A first connection asks by itself.
    if (this.tenant === undefined || this.shared === undefined) return;
    const now = JSON.stringify(await optionsFor(this));
    const { shared } = this;
    const connection = await shared?.catch(() => undefined);
    if (connection === undefined || this.given.get(connection) === now) return;
    if (this.shared === shared) this.shared = undefined;
    this.forget(connection);
  }

  private async closed(connection: McpConnection): Promise<void> {
    this.all.delete(connection);
    await connection.close();
  }

  private offerOf(listed: readonly Tool[], protocol: string): McpOffer {
    const refused: { tool: string; problem: string }[] = [];
    const tools: McpOfferedTool[] = [];
    const uses = new Map<string, number>();
    const named = listed.map((tool) => {
      const name = mcpToolName(this.name, tool.name);
      uses.set(name, (uses.get(name) ?? 0) + 1);
      return [name, tool] as const;
    });
    for (const [name, tool] of named) {
      const isDouble = uses.get(name) !== 1;
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

function toolProblem({ description = '', inputSchema, execution }: Tool): string | undefined {
  if (execution?.taskSupport === 'required') return 'it works only as a task';
  if (utf8Length(description) > limits.mcpDescription) return `its description has more than ${limits.mcpDescription / 1024} KB`;
  const problem = problemOfForeignSchema(inputSchema as Json);
  return problem === undefined ? undefined : `its inputSchema is refused: ${problem}`;
}
