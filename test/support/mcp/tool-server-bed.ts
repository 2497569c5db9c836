import type { AddressInfo } from 'node:net';
import { randomUUID } from 'node:crypto';
import { serve } from '@hono/node-server';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { McpServer as OldServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { McpServer as NewServer } from '@modelcontextprotocol/server';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { GenerateRequest } from '../../../activities/models/language-model';
import { ModelRegistry } from '../../../activities/models/models';
import type { McpServerOptions } from '../../../activities/mcp/options';
import { McpServers } from '../../../activities/mcp/servers';
import type { WorkerParts } from '../../../activities/parts';
import { defaultModelFacts, partsForCall } from '../../../activities/parts';
import { manifestFor } from '../../../activities/prepare-run';
import { OutputRegistry } from '../../../activities/schemas/outputs';
import { ToolAttempt } from '../../../activities/tools/tool-attempt';
import { ToolRegistry, defaultToolFacts } from '../../../activities/tools/tools';
import { aboutNothing } from '../../../activities/transcripts/start-store';
import { WorkerMiddlewareRegistry } from '../../../activities/worker-middleware/worker-middleware';
import { startInputOf } from '../../../client/runs/start-input';
import type { Agent } from '../../../kernel/define/agent-ref';
import { MemoryRun } from '../../../testing/memory/run';
import { memoryWork } from '../../../testing/memory-work';
import { TestRun } from '../../../testing/test-run';
import { agentsOf } from '../../../testing/test-world';
import type { Answerer } from '../answers';
import type { DeltaBody } from '../../../contract/deltas';
import { defined } from '../../../contract/defined';
import type { Manifest, ManifestRequest } from '../../../contract/manifest';
import { toolFactsOf } from '../../../contract/manifest';
import type { Json } from '../../../contract/messages/messages';
import type { CallToolInput, CallToolResult } from '../../../contract/record/wire';

interface Served {
  readonly url: string;
  close(): Promise<void>;
}

export function served(fetch: (request: Request) => Promise<Response>, port = 0): Promise<Served> {
  return new Promise((resolve) => {
    const server = serve({ fetch, port, hostname: '127.0.0.1' }, () => {
      const { port: bound } = server.address() as AddressInfo;
      const close = (): Promise<void> =>
        new Promise((closed) => {
          server.close(() => closed());
          (server as { closeAllConnections?: () => void }).closeAllConnections?.();
        });
      resolve({ url: `http://127.0.0.1:${bound}/mcp`, close });
    });
  });
}

/** Protocol 2026-07-28, without sessions. */
export function newServer(make: () => NewServer): Promise<Served> {
  const handler = createMcpHandler(make);
  return served((request) => handler.fetch(request));
}

/** Protocol 2025-11-25, with sessions. `forget` answers each session with 404, as a restarted server does. */
export async function oldServer(make: () => OldServer): Promise<Served & { forget(): void; readonly sessions: number }> {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const fetch = async (request: Request): Promise<Response> => {
    const session = request.headers.get('mcp-session-id') ?? undefined;
    const known = session === undefined ? undefined : sessions.get(session);
    if (session !== undefined && known === undefined) return Response.json({ error: 'Session not found' }, { status: 404 });
    if (known !== undefined) return known.handleRequest(request);
    const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await make().connect(transport);
    return transport.handleRequest(request);
  };
  const server = await served(fetch);
  return {
    ...server,
    forget: () => sessions.clear(),
    get sessions() {
      return sessions.size;
    },
  };
}

type MoreOfCall = Partial<CallToolInput> & { readonly signal?: AbortSignal; readonly run?: string };

export class ToolServerBed {
  readonly mcp: McpServers;
  readonly deltas: DeltaBody[] = [];
  /** Values of the run, as the workflow keeps them. */
  values: Record<string, Json> = {};
  private readonly parts;

  constructor(
    servers: Readonly<Record<string, McpServerOptions>>,
    more: Partial<Pick<WorkerParts, 'tools' | 'middleware' | 'policies'>> = {},
  ) {
    this.mcp = new McpServers(servers);
    this.parts = {
      mcp: this.mcp,
      tools: new ToolRegistry({}),
      outputs: new OutputRegistry({}),
      middleware: new WorkerMiddlewareRegistry([]),
      toolDefaults: defaultToolFacts,
      ...more,
    };
  }

  /** A run's manifest. */
  prepared(...tools: readonly string[]): Promise<Manifest> {
    return this.preparedFor('default', ...tools);
  }

  preparedFor(tenant: string, ...tools: readonly string[]): Promise<Manifest> {
    return this.preparedAgain(tools, undefined, tenant);
  }

  /** As when a run continues. */
  preparedAgain(tools: readonly string[], mcp?: ManifestRequest['mcp'], tenant = 'default'): Promise<Manifest> {
    const request = { tenant, agent: 'agent', tools, models: [], workerMiddleware: [], argumentAliases: {}, ...defined({ mcp }) };
    return manifestFor(request, { ...this.parts, language: 'en' } as never);
  }

  async call(
    manifest: Manifest,
    tool: string,
    input: Json = {},
    more: MoreOfCall = {},
    tenant = 'default',
  ): Promise<CallToolResult['outcome']> {
    const attempt = this.attempt(manifest, tool, input, more, tenant);
    const outcome = await attempt.run(this.values, aboutNothing);
    Object.assign(this.values, attempt.result(outcome).runLocal?.set);
    return outcome;
  }

  private attempt(manifest: Manifest, tool: string, input: Json, more: MoreOfCall, tenant = 'default'): ToolAttempt {
    const { signal = new AbortController().signal, run = 'run', ...given } = more;
    const { server, tool: name, inputSchema } = manifest.mcp?.[tool] ?? { server: 'none', tool, inputSchema: {} };
    const { effect, timeoutMs } = toolFactsOf(manifest, tool);
    const mcp = { server, tool: name, inputSchema, effect, timeoutMs };
    const call: CallToolInput = { tool, callId: 'call', input, path: ['agent'], mcp, ...given };
    const facts = { workflowId: `${tenant}/${run}`, address: 'agent/t1/tool.0', attempt: 1, signal };
    const publish = (delta: DeltaBody): void => void this.deltas.push(delta);
    return new ToolAttempt(call, partsForCall(this.parts, call), { ...facts, publish });
  }

  /** A run on virtual time. */
  run(agent: Agent<string, string>, answer: Answerer): TestRun {
    const model = { generate: async (request: GenerateRequest) => answer(request) };
    const parts = {
      ...this.parts,
      models: new ModelRegistry({ providers: { test: { model: () => model } }, names: { default: 'test/model' } }, {}),
      language: 'en' as const,
      modelFacts: defaultModelFacts,
    };
    const start = startInputOf({ tenant: 'default', agent: agent.name }, 'Go.', { id: 'test' });
    const work = memoryWork(parts, () => undefined);
    return new TestRun(new MemoryRun(agentsOf(agent), { start }, work, Date.UTC(2026, 0, 1)), 'test');
  }

  close(): Promise<void> {
    return this.mcp.close();
  }
}

export function textOf(outcome: CallToolResult['outcome']): unknown {
  if (outcome.type === 'failed') return outcome.error.message;
  if (outcome.type !== 'done') return outcome.type;
  return (outcome.output as readonly { readonly text?: string }[]).map(({ text }) => text).join(' | ');
}
