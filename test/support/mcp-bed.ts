import { setMaxListeners } from 'node:events';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Hono } from 'hono';
import type { KnownCaller } from '../../client/connection/authority';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { ListedRun } from '../../contract/service';
import type { Agent } from '../../kernel/define/agent-ref';
import type { Json } from '../../contract/messages/messages';
import type { ServiceParts } from '../../service/parts';
import type { ServiceStore } from '../../service/store/store';
import type { AgentSummary } from '../../service/project/load-project';
import type { ScriptedStep, TestRun } from '../../testing/index';
import { scriptedModel, testRun } from '../../testing/index';
import { tools } from './memory-bed';
import { memoryStore } from './memory-store';
import { appOn, clientWith } from './service-app';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Body = any;

const line = '2026-07-28';
const prefix = 'io.modelcontextprotocol/';
export const withTasks = { elicitation: {}, extensions: { [`${prefix}tasks`]: {} } };

export interface McpBed {
  readonly app: Hono;
  readonly store: ServiceStore;
  readonly runs: Map<string, TestRun<unknown>>;
  /** Answers that runs got, with who gave them. */
  readonly given: readonly (readonly [run: string, answer: Json, options: object])[];
  rpc(method: string, params: object, capabilities?: object): Promise<Body>;
  call(name: string, given: object, more?: object, capabilities?: object): Promise<Body>;
  post(body: object, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** A client of the SDK of the second line, which asks its person with `elicit`. */
  client(elicit?: (asked: Body) => object, mode?: 'legacy'): Promise<Client>;
}

/** A request of the line 2026-07-28, by hand. */
export function modernRequest(method: string, params: object, capabilities: object = { elicitation: {} }) {
  const { name, taskId } = params as { readonly name?: string; readonly taskId?: string };
  const _meta = { [`${prefix}protocolVersion`]: line, [`${prefix}clientCapabilities`]: capabilities };
  const named = name ?? taskId;
  return {
    body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } },
    headers: { 'mcp-protocol-version': line, 'mcp-method': method, ...(named === undefined ? {} : { 'mcp-name': named }) },
  };
}

export const jsonHeaders = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

interface Serving {
  readonly agent: Agent<string, Json>;
  readonly steps: readonly ScriptedStep[];
  readonly facts?: Partial<AgentSummary>;
  readonly parts?: Partial<ServiceParts>;
  /** Absent: a service without access. */
  readonly caller?: Omit<KnownCaller, 'proof'>;
  readonly entered?: (caller: KnownCaller) => void;
  /** Of a service before this one. */
  readonly runs?: Map<string, TestRun<unknown>>;
}

/** The service with one agent, whose runs are in memory. */
export function mcpBed({ agent, steps, facts, parts = {}, caller, entered, runs = new Map() }: Serving): McpBed {
  const given: [string, Json, object][] = [];
  const begin = async (_: string, input: Json, { id = `made-${runs.size}` }: { readonly id?: string } = {}): Promise<TestRun<unknown>> => {
    const known = runs.get(id);
    if (known !== undefined) return forCaller(known);
    const by = caller?.user;
    const run = await testRun(agent, { id, input: input, model: scriptedModel(steps), tools, ...defined({ by }) });
    runs.set(id, run);
    return forCaller(run);
  };
  const forCaller = (run: TestRun<unknown>): TestRun<unknown> => {
    const who = caller === undefined ? {} : { by: caller.user, roles: caller.roles };
    const resume = async (...asked: readonly unknown[]) => {
      const [interruptId, answer, options = {}] = asked;
      await (run.resume.bind(run) as (...all: readonly unknown[]) => Promise<void>)(interruptId, answer, {
        ...(options as object),
        ...who,
      });
      given.push([String(interruptId), answer as Json, { ...(options as object), ...who }]);
    };
    return Object.assign(Object.create(run) as TestRun<unknown>, { resume });
  };
  const run = (id: string): TestRun<unknown> => {
    const known = runs.get(id);
    if (known !== undefined) return forCaller(known);
    const unknown = (): never => {
      throw new HoldfastError('run-unknown', `There is no run "${id}".`);
    };
    return { id, view: async () => unknown(), events: unknown, cancel: async () => unknown() } as unknown as TestRun<unknown>;
  };
  const list = async () => ({ runs: [...runs].map(([id]) => ({ id, agent: agent.name, status: 'waiting' }) as ListedRun), more: false });
  const acting = { start: begin, run, list, place: { tenant: caller?.tenant ?? 'default' }, noWorker: async () => undefined };
  const client = clientWith(
    caller === undefined ? acting : { ...acting, caller, author: () => ({ by: caller.user, roles: caller.roles }) },
  );
  client.as = (one) => (entered?.(one), client);
  const { signal: closing } = new AbortController();
  setMaxListeners(0, closing);
  const store = parts.store ?? memoryStore();
  const app = appOn(client, {
    agents: [{ name: agent.name, description: 'Under test.', takesJob: false, ...facts }],
    store,
    closing,
    ...parts,
  });
  const post = (body: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    Promise.resolve(
      app.request('/mcp', {
        method: 'POST',
        headers: { ...jsonHeaders, ...headers },
        body: JSON.stringify(body),
      }),
    );
  const rpc = async (method: string, params: object, capabilities?: object): Promise<Body> => {
    const { body, headers } = modernRequest(method, params, capabilities);
    return (await post(body, headers)).json();
  };
  return {
    app,
    store,
    runs,
    given,
    rpc,
    post,
    call: (name, args, more = {}, capabilities) => rpc('tools/call', { name, arguments: args, ...more }, capabilities),
    async client(elicit, mode) {
      const fetch = (input: string | URL, init?: RequestInit): Promise<Response> => Promise.resolve(app.request(String(input), init));
      const made = new Client(
        { name: 'test', version: '1' },
        { capabilities: elicit === undefined ? {} : { elicitation: {} }, versionNegotiation: { mode: mode ?? { pin: line } } },
      );
      if (elicit !== undefined) made.setRequestHandler('elicitation/create', async ({ params }) => elicit(params) as never);
      await made.connect(new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), { fetch }));
      return made;
    },
  };
}
