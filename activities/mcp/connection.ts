import { randomUUID } from 'node:crypto';
import type {
  CallToolRequest,
  CallToolResult,
  ElicitRequest,
  ElicitResult,
  InputRequiredResult,
  ProgressCallback,
  Tool,
  Transport,
} from '@modelcontextprotocol/client';
import { Client, ClientCredentialsProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport, getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import { withoutCredentials } from '../../contract/credentials';
import { HoldfastError } from '../../contract/errors';
import { whyUnreachable } from './failures';
import type { McpCommand, McpServerOptions, McpUrl } from './options';
import { RequestsOverHttp, boundedFetch, mostMessage } from './requests-over-http';

const connectMs = 20_000;
const probeMs = 5_000;
const pingMs = 5_000;

export interface McpRequest {
  readonly params: CallToolRequest['params'];
  readonly tool: Tool;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onprogress: ProgressCallback;
}

export class McpConnection {
  /** Tells a session from a later session. */
  readonly id = randomUUID();
  isOpen = true;
  open = 0;
  /** The run's session before. */
  after: { readonly session: unknown } | undefined;
  /** Answers a server that asks in a call (protocol 2025). */
  asked: ((request: ElicitRequest['params']) => Promise<ElicitResult>) | undefined;

  private constructor(
    private readonly client: Client,
    private readonly transport: Transport,
  ) {}

  static async to(server: string, options: McpServerOptions): Promise<McpConnection> {
    const opened = McpConnection.by('auto', server, options);
    // Some processes of 2025-11-25 end or hang if anything comes before `initialize`.
    return options.command === undefined ? opened : opened.catch(() => McpConnection.by('legacy', server, options));
  }

  private static async by(mode: 'auto' | 'legacy', server: string, options: McpServerOptions): Promise<McpConnection> {
    const transport = options.command === undefined ? overHttp(server, options) : asProcess(server, options);
    const client = new Client(
      { name: 'holdfast', version: '1' },
      {
        capabilities: { elicitation: { form: {} } },
        versionNegotiation: { mode, ...(options.command === undefined ? {} : { probe: { timeoutMs: probeMs } }) },
        inputRequired: { autoFulfill: false },
      },
    );
    const connection = new McpConnection(client, transport);
    client.onclose = () => (connection.isOpen = false);
    client.onerror = () => undefined;
    client.setRequestHandler('elicitation/create', ({ params }) => {
      if (connection.asked !== undefined) return connection.asked(params);
      throw new Error(`Holdfast cannot tell whose call asks. Set \`perRun: true\` for the MCP server "${server}".`);
    });
    try {
      await client.connect(transport, { timeout: connectMs });
      return connection;
    } catch (error) {
      await client.close().catch(() => undefined);
      const why = withoutCredentials(whyUnreachable(error, options.command));
      throw new HoldfastError('mcp-unreachable', `The MCP server "${server}" cannot be reached: ${why}`, { cause: error });
    }
  }

  get protocol(): string {
    return this.client.getNegotiatedProtocolVersion() ?? 'unknown';
  }

  get hasSession(): boolean {
    return this.transport.sessionId !== undefined;
  }

  async tools(): Promise<readonly Tool[]> {
    return (await this.client.listTools(undefined, { timeout: connectMs, cacheMode: 'bypass' })).tools;
  }

  /** Throws if the server does not answer, or has forgotten the session. */
  async ping(): Promise<void> {
    // Protocol 2026 has no ping.
    if (this.protocol < '2026') await this.client.ping({ timeout: pingMs });
    else await this.client.listTools(undefined, { timeout: pingMs, cacheMode: 'bypass' });
  }

  /** Without the SDK's check of outputs, which would hide what a tool has done. */
  async call({ params, tool, timeoutMs, signal, onprogress }: McpRequest): Promise<CallToolResult | InputRequiredResult> {
    return this.client.callTool(params, {
      toolDefinition: tool,
      allowInputRequired: true,
      timeout: timeoutMs,
      maxTotalTimeout: timeoutMs,
      signal,
      onprogress,
    });
  }

  async close(): Promise<void> {
    this.isOpen = false;
    if (this.transport instanceof StreamableHTTPClientTransport)
      await Promise.race([
        this.transport.terminateSession().catch(() => undefined),
        new Promise((late) => setTimeout(late, connectMs).unref()),
      ]);
    await this.client.close().catch(() => undefined);
  }
}

/** For its own class, the SDK starts a second process that only negotiates. */
class ServerProcess extends StdioClientTransport {}

function overHttp(server: string, { url, headers = {}, oauth }: McpUrl): Transport {
  const authProvider =
    oauth && new ClientCredentialsProvider({ ...oauth, clientSecret: given(server, 'oauth.clientSecret', oauth.clientSecret) });
  const transport: RequestsOverHttp = new RequestsOverHttp(new URL(url), {
    fetch: boundedFetch(server, [url, oauth?.expectedIssuer ?? url], (id, problem) => transport.fail(id, problem)),
    requestInit: { headers: allGiven(server, 'headers', headers) },
    ...(authProvider === undefined ? {} : { authProvider }),
  });
  return transport;
}

function asProcess(server: string, { command, args = [], env = {}, cwd }: McpCommand): Transport {
  return new ServerProcess({
    command,
    args: [...args],
    env: { ...getDefaultEnvironment(), ...allGiven(server, 'env', env) },
    stderr: 'inherit',
    maxBufferSize: mostMessage,
    ...(cwd === undefined ? {} : { cwd }),
  });
}

function allGiven(server: string, field: string, values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, given(server, `${field}.${name}`, value)]));
}

function given(server: string, field: string, value: string | undefined): string {
  if (value !== undefined) return value;
  throw new HoldfastError(
    'config-invalid',
    `\`mcp.${server}.${field}\` has no value. Set the environment variable of the value on the worker.`,
  );
}
