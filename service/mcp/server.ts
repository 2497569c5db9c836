import type { Server, ServerContext } from '@modelcontextprotocol/server';
import { errorTable } from '../../contract/errors';
import { isRecord } from '../../contract/check';
import type { Interrupt } from '../../contract/interrupts';
import type { JsonObject } from '../../contract/messages/messages';
import { shown } from '../../contract/shown';
import type { Run } from '../../client/index';
import { shownHash } from '../access/links';
import { agentsIn } from '../http/asked-agent';
import { toldError } from '../http/error-response';
import { packageVersion } from '../http/package-version';
import type { AgentSummary } from '../project/load-project';
import type { ShownTool } from './agent-tool';
import { startRun, toolOfAgent } from './agent-tool';
import { giveAnswers, questionsFor, settled } from './answering';
import type { McpCaller } from './caller';
import { inTime } from './caller';
import { formOf } from './forms';
import { ownTools } from './own-tools';
import { errorResult, runResult } from './results';
import type { SignedState } from './state';
import { mintState, verifyState } from './state';
import { newTask, serveTasks, takesForms, takesTasks, tasksExtension } from './tasks';

type CallResult = Readonly<Record<string, unknown>>;

const instructions =
  'Each agent is a tool. A call starts a durable run and waits up to 50 s; the run goes on when the call ends. ' +
  'Give a `runId` to make a call repeatable. get_run and events say why a run waits or failed; answer_interrupt answers it.';

/** A server for one request of a caller, of either line of the protocol. */
export function serverFor(caller: McpCaller, era: 'legacy' | 'modern'): Server {
  const isModern = era === 'modern';
  const { sdk } = caller;
  const server = new sdk.Server(
    { name: 'holdfast', version: packageVersion() },
    {
      capabilities: { tools: {}, ...(isModern ? { extensions: { [tasksExtension]: {} } } : {}) },
      instructions,
      requestState: { verify: (state, ctx) => verifyState(caller, state, ctx) },
    },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: [...agentTools(caller).values()].map((tool) => tool.shown).concat(ownShown),
  }));
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: given = {} } }, ctx) => {
    const called = callTool(caller, { name, given: given as JsonObject, ctx, isModern });
    return (await called.catch((error: unknown) => failedCall(caller, error))) as never;
  });
  if (isModern) serveTasks(server, caller, (act) => inProtocol(caller, act));
  return server;
}

function failedCall({ sdk, parts }: McpCaller, error: unknown, runId?: string): CallResult {
  if (error instanceof sdk.ProtocolError) throw error;
  const { code, message } = toldError(error, 'a call of MCP', parts.logger);
  return errorResult(code, message, runId);
}

async function inProtocol({ sdk, parts }: McpCaller, act: () => Promise<CallResult>): Promise<CallResult> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof sdk.ProtocolError) throw error;
    const { code, message } = toldError(error, 'a request about a task', parts.logger);
    const { status, fix } = errorTable[code];
    const kind = status < 500 ? sdk.ProtocolErrorCode.InvalidParams : sdk.ProtocolErrorCode.InternalError;
    throw new sdk.ProtocolError(kind, message, { code, fix });
  }
}

const ownShown: readonly ShownTool[] = [...ownTools.values()].map((tool) => tool.shown);

/** By name of the tool. An agent with the name of an own tool gets prefixes. */
function agentTools({ parts }: McpCaller): ReadonlyMap<string, { readonly shown: ShownTool; readonly agent: AgentSummary }> {
  const agents = agentsIn(parts);
  const names = new Set(agents.map(({ name }) => name));
  return new Map(
    agents.map((agent) => {
      let { name } = agent;
      while (ownTools.has(name) || (name !== agent.name && names.has(name))) name = `agent_${name}`;
      return [name, { shown: { ...toolOfAgent(agent), name }, agent }];
    }),
  );
}

interface Called {
  readonly name: string;
  readonly given: JsonObject;
  readonly ctx: ServerContext;
  readonly isModern: boolean;
}

async function callTool(caller: McpCaller, called: Called): Promise<CallResult> {
  const own = ownTools.get(called.name);
  if (own !== undefined) return own.act(called.given, caller);
  const tools = agentTools(caller);
  const tool = tools.get(called.name);
  if (tool !== undefined) return callAgent(caller, tool.agent, called);
  const { sdk } = caller;
  const known = [...tools.keys(), ...ownTools.keys()].join(', ');
  throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, `There is no tool ${shown(called.name)}. There are: ${known}.`, {
    code: 'agent-unknown',
  });
}

async function callAgent(caller: McpCaller, agent: AgentSummary, called: Called): Promise<CallResult> {
  const state = called.isModern ? called.ctx.mcpReq.requestState<SignedState>() : undefined;
  const run = state === undefined ? await startRun(caller, agent, called.given) : caller.client.run(state.run);
  return followRun(caller, run, called, state).catch((error: unknown) => failedCall(caller, error, run.id));
}

async function followRun(caller: McpCaller, run: Run, { ctx, isModern }: Called, state: SignedState | undefined): Promise<CallResult> {
  if (state === undefined && isModern && takesTasks(caller, ctx)) return newTask(await inTime(caller, () => run.view()));
  const isAsked = (interrupt: Interrupt): boolean => state?.asked[interrupt.id] === shownHash(interrupt);
  const responses = state === undefined ? {} : ctx.mcpReq.inputResponses;
  const { told, misfits } = await giveAnswers(run, caller, responses, isAsked);
  const view = await settled(run, caller);
  const open = questionsFor(caller, view).filter(({ id }) => !told.has(id));
  if (open.length === 0 || !isModern || !takesForms(caller, ctx)) return runResult(view, caller, told.size > 0);
  const inputRequests = Object.fromEntries(open.map((interrupt) => [interrupt.id, formOf(interrupt, misfits.get(interrupt.id))]));
  return { resultType: 'input_required', inputRequests, requestState: await mintState(caller, ctx, run.id, open) };
}

function named(request: Request, body: unknown): Request {
  const { method, params } = isRecord(body) ? body : {};
  const { taskId } = isRecord(params) ? params : {};
  const isTask = typeof method === 'string' && method.startsWith('tasks/') && !request.headers.has('mcp-name');
  if (!isTask || typeof taskId !== 'string' || !/^[\x21-\x7e]+$/.test(taskId)) return request;
  const headers = new Headers(request.headers);
  headers.set('mcp-name', taskId);
  return new Request(request.url, { method: request.method, headers, signal: request.signal });
}

/** `body`: absent for a GET and a DELETE, which the SDK refuses. */
export async function answerMcp(request: Request, body: unknown, caller: McpCaller): Promise<Response> {
  const { params } = isRecord(body) ? body : {};
  // A store that is away is no forged state.
  if (isRecord(params) && 'requestState' in params) await caller.secret();
  const { logger } = caller.parts;
  const handler = caller.sdk.createMcpHandler(({ era }) => serverFor(caller, era), {
    maxSubscriptions: 0,
    onerror: ({ message }) => logger.debug('A request of MCP was refused', { message }),
  });
  if (body === undefined) return handler.fetch(request);
  return handler.fetch(named(request, body), { parsedBody: body });
}
