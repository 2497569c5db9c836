import type { CallToolResult, ElicitResult, InputRequiredResult } from '@modelcontextprotocol/client';
import { withoutCredentials } from '../../contract/credentials';
import { HoldfastError, messageOf } from '../../contract/errors';
import type { Json, JsonObject, Part } from '../../contract/messages/messages';
import type { McpCall } from '../../contract/record/wire';
import { abortOf } from '../calls/abort';
import { LostAnswer } from '../tools/cut-off';
import type { ToolCallContext } from '../tools/define-tool';
import type { AskedState } from './asks';
import { answersTo, askOf, isAsking, knownAnswer, onlyAsk, questionOf, stateOf } from './asks';
import type { McpConnection } from './connection';
import type { McpFailure } from './failures';
import { partsOfResult } from './results';
import type { McpServer } from './server';

const keyOfMeta = 'holdfast/idempotencyKey';
const mostRounds = 10;

export class McpExecution {
  private readonly state: AskedState | undefined;
  private readonly sessionKey: string;

  constructor(
    private readonly server: McpServer,
    private readonly mcp: McpCall,
    private readonly input: JsonObject,
    private readonly call: ToolCallContext,
  ) {
    this.state = call.resumed?.state as AskedState | undefined;
    this.sessionKey = `mcp:${mcp.server}`;
  }

  async run(): Promise<readonly Part[]> {
    const given = this.state === undefined ? {} : await this.answered(this.state);
    let made = await this.made(given);
    // Without a question, the server wants the call again with the server's state.
    for (let rounds = 0; 'asks' in made && Object.keys(made.asks.asks).length === 0; rounds++) {
      const { requestState } = made.asks;
      if (requestState === undefined || rounds === mostRounds) throw new Error('The server asks again and again, without a question.');
      made = await this.made({ requestState });
    }
    return 'asks' in made ? this.ask(made.asks) : [...partsOfResult(made.result), ...made.notes];
  }

  private async answered(state: AskedState): Promise<Given> {
    const found = await answersTo(state, this.call.resumed?.answer);
    if ('problem' in found) return this.ask(state, found.problem);
    if (state.requestState !== undefined || state.answered === undefined)
      return { inputResponses: found.answers, ...(state.requestState === undefined ? {} : { requestState: state.requestState }) };
    const [[key, ask] = []] = Object.entries(state.asks);
    const answer = found.answers[key ?? ''];
    return { known: { asks: {}, answered: ask && answer ? [...state.answered, { ask, answer }] : state.answered } };
  }

  private ask(state: AskedState, problem?: string): never {
    const { info, answerSchema } = questionOf(this.mcp.server, this.mcp.tool, state, problem);
    return this.call.interrupt(info, { state: state as unknown as Json, answerSchema });
  }

  private async made(given: Given): Promise<Made> {
    const session = sessionOf(this.call.idempotencyKey);
    for (let isFirst = true; ; isFirst = false) {
      const made = await this.server
        .with(session, (connection) => this.on(connection, given, isFirst))
        .catch((error: unknown) => this.beforeSending(error));
      if (made !== 'again') return made;
    }
  }

  /** The server has not heard of the call. */
  private beforeSending(error: unknown): never {
    if (error instanceof HoldfastError && error.code === 'mcp-unreachable' && this.mcp.effect !== 'once')
      throw new LostAnswer(error.message);
    throw error;
  }

  private async on(connection: McpConnection, given: Given, mayRepeat: boolean): Promise<Made | 'again'> {
    const { failureOfCall, isUnauthorized } = await import('./failures.js');
    const { server, mcp } = this;
    const { signal } = this.call;
    const isOnce = mcp.effect === 'once';
    // A forgotten session shows before the call, so that a restart of the server leaves no call in doubt.
    if (isOnce && mayRepeat && connection.hasSession && !(await this.isAlive(connection))) return 'again';
    if (signal.aborted) throw abortOf(signal);
    if (mayRepeat && this.isStale(connection)) return 'again';
    try {
      const sent = await this.sent(connection, given);
      if ('asks' in sent) return sent;
      return isAsking(sent.result) ? { asks: stateOf(sent.result) } : { result: sent.result, notes: this.notesOf(connection) };
    } catch (error) {
      if (signal.aborted) throw abortOf(signal);
      if (mayRepeat && server.tenant !== undefined && isUnauthorized(error)) {
        server.forget(connection);
        return 'again';
      }
      const failure = failureOfCall(error, connection.hasSession);
      if (failure === 'refused') throw error;
      if (failure === 'late') void this.isAlive(connection);
      else server.forget(connection);
      if (mayRepeat && (failure === 'unsent' || (failure === 'no-session' && !isOnce))) return 'again';
      if (failure === 'unsent') throw new HoldfastError('mcp-unreachable', `The MCP server "${mcp.server}" is not connected.`);
      throw this.lost(failure, error);
    }
  }

  /** The run has had a session on another worker since. */
  private isStale(connection: McpConnection): boolean {
    if (this.server.options.perRun !== true) return false;
    const last = this.call.runLocal.get(this.sessionKey);
    connection.after ??= { session: last };
    const isStale = last !== connection.id && last !== connection.after.session;
    if (isStale) this.server.forget(connection);
    return isStale;
  }

  private async isAlive(connection: McpConnection): Promise<boolean> {
    try {
      await connection.ping();
      return true;
    } catch {
      this.server.forget(connection);
      return false;
    }
  }

  private lost(failure: McpFailure, error: unknown): LostAnswer {
    const { server, tool, timeoutMs } = this.mcp;
    if (failure === 'late') return new LostAnswer(`The MCP server "${server}" gave no result within ${timeoutMs / 1000} s.`, timeoutMs);
    const said = withoutCredentials(messageOf(error)).slice(0, 500);
    return new LostAnswer(`the connection to the MCP server "${server}" broke in the call of "${tool}": ${said}`);
  }

  private async sent(connection: McpConnection, given: Given): Promise<Asked | { readonly result: CallToolResult | InputRequiredResult }> {
    const { mcp, call, input } = this;
    const { known = { asks: {}, answered: [] }, inputResponses, requestState } = given;
    const stop = new AbortController();
    const asked = new Promise<Asked>((resolve) => {
      connection.asked =
        this.server.options.perRun !== true ? undefined : (params) => answerOrAsk(known, params, (asks) => resolve({ asks }), stop.signal);
    });
    const made = connection.call({
      params: {
        name: mcp.tool,
        arguments: input,
        _meta: { [keyOfMeta]: call.idempotencyKey },
        ...(inputResponses === undefined ? {} : { inputResponses }),
        ...(requestState === undefined ? {} : { requestState }),
      },
      tool: { name: mcp.tool, inputSchema: mcp.inputSchema as { type: 'object' } },
      // The worker's own timer ends the attempt later, so that the server hears of the end.
      timeoutMs: mcp.timeoutMs - Math.min(1_000, mcp.timeoutMs / 10),
      signal: AbortSignal.any([call.signal, stop.signal]),
      onprogress: ({ progress, total, message }) =>
        call.progress({ progress, ...(total === undefined ? {} : { total }), ...(message === undefined ? {} : { message }) }),
    });
    made.catch(() => undefined);
    try {
      return await Promise.race([made.then((result) => ({ result })), asked]);
    } finally {
      connection.asked = undefined;
      stop.abort();
    }
  }

  /** What a lost session has taken along is said to the model. */
  private notesOf(connection: McpConnection): readonly Part[] {
    if (this.server.options.perRun !== true) return [];
    const { runLocal } = this.call;
    const before = runLocal.get(this.sessionKey);
    if (before !== connection.id) runLocal.set(this.sessionKey, connection.id);
    if (before === undefined || before === connection.id) return [];
    const text = `The session with "${this.mcp.server}" is new: what earlier calls left in the session is gone.`;
    return [{ type: 'text', text }];
  }
}

/** A run and its isolated agents have one session. */
export function sessionOf(workflowId: string): string {
  return workflowId.split('/').slice(0, 2).join('/');
}

interface Given {
  readonly inputResponses?: Readonly<Record<string, ElicitResult>>;
  readonly requestState?: string;
  readonly known?: AskedState;
}

interface Asked {
  readonly asks: AskedState;
}

type Made = Asked | { readonly result: CallToolResult; readonly notes: readonly Part[] };

/** A form without an answer ends the call, which is made again with the answer. */
function answerOrAsk(
  known: AskedState,
  params: Parameters<typeof askOf>[0],
  resolve: (state: AskedState) => void,
  stopped: AbortSignal,
): Promise<ElicitResult> {
  const answer = knownAnswer(known, params as never);
  if (answer !== undefined) return Promise.resolve(answer);
  resolve({ asks: { [onlyAsk]: askOf(params) }, answered: known.answered ?? [] });
  return new Promise((_, reject) => stopped.addEventListener('abort', () => reject(new Error('A person is asked.')), { once: true }));
}
