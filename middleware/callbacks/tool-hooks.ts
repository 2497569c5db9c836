import { HoldfastError, messageOf, thrownCodeOf } from '../../contract/errors';
import type { Json, Message, ToolCall } from '../../contract/messages/messages';
import { canonicalJson, textOf } from '../../contract/messages/messages';
import { frozen } from '../../contract/freeze';
import type { AgentMiddleware, HookContext } from '../../kernel/define/middleware';
import { isCancellation, isStop, isToolProblem } from '../../kernel/effects/errors';
import { endRunWith, followCall } from './behind-tool-calls';
import { invocationOf, thawed } from './invocation';
import type { ChainAt } from './chain';
import { callIdOf } from './plugins';
import type { ToolCallbacks } from './sets';
import { throughStages } from './stages';
import type { AfterToolArgs, BeforeToolArgs } from './types';

export interface ToolChains {
  readonly name: string;
  readonly before: readonly ChainAt<'beforeTool'>[];
  readonly after: readonly ChainAt<'afterTool'>[];
  readonly messages: ToolCallbacks | undefined;
  readonly view: ToolCallbacks | undefined;
}

interface Around {
  readonly call: ToolCall;
  readonly next: (call: ToolCall) => Promise<Json>;
  readonly ctx: HookContext;
}

export function aroundToolCall(chains: ToolChains): NonNullable<AgentMiddleware['wrapToolCall']> {
  return async (call, next, ctx) => {
    const args: BeforeToolArgs = {
      invocation: invocationOf(ctx),
      values: ctx.values,
      toolCallId: call.id,
      toolName: call.name,
      arguments: thawed(call.input),
    };
    const custom = (await throughStages(chains.before, args).catch(refused))?.customResult;
    const output = custom === undefined ? await called(chains, args, { call, next, ctx }) : custom;
    if (chains.messages === undefined) return output;
    return shaped(chains.messages, args, output, (others) => followCall(call.id, others, chains.name, ctx));
  };
}

async function called({ name, after, view }: ToolChains, args: BeforeToolArgs, { call, next, ctx }: Around): Promise<Json> {
  const changed = canonicalJson(args.arguments) === canonicalJson(call.input) ? call : { ...call, input: args.arguments };
  let ran: { readonly result: Json } | { readonly error: Error };
  try {
    ran = { result: frozen(await next(changed)) };
  } catch (error) {
    if (isCancellation(error) || !(isToolProblem(error) || isStop(error))) throw error;
    ran = { error: error as Error };
  }
  const about = { ...args, arguments: frozen(thawed(args.arguments)) };
  const seen =
    view === undefined || 'error' in ran
      ? ran
      : { result: frozen(thawed(await view.resultForCallbacks({ ...about, result: ran.result }).catch(refused))) };
  const shown: AfterToolArgs = { ...about, ...seen };
  const result = await throughStages(after, shown).catch((error: unknown) => {
    throw error === shown.error || isStop(shown.error) ? shown.error : refusal(error);
  });
  const custom = isStop(shown.error) ? undefined : result?.customResult;
  if (custom === undefined && 'error' in ran) throw ran.error;
  if (result?.skipSummarization === true) endRunWith(args.toolCallId, name, ctx);
  return custom === undefined ? (ran as { readonly result: Json }).result : custom;
}

async function shaped(
  messages: ToolCallbacks,
  args: BeforeToolArgs,
  result: Json,
  follow: (messages: readonly Message[]) => void,
): Promise<Json> {
  const { toolCallId, toolName } = args;
  const defaultMessage: Message = { role: 'tool', parts: [{ type: 'tool-result', callId: toolCallId, name: toolName, output: result }] };
  const { result: said, error } = await messages.runToolResultMessages({ ...args, result, defaultMessage });
  if (error !== undefined) throw refusal(error);
  if (said === undefined) return result;
  const own = said.filter(({ role }) => role === 'tool');
  const others = said.filter(({ role }) => role !== 'tool');
  const foreign = own.find((message) => (callIdOf(message) ?? toolCallId) !== toolCallId);
  if (foreign !== undefined) throw refusal(new Error(`a tool message names the call "${callIdOf(foreign)}" in place of "${toolCallId}"`));
  if (own.length > 1) throw refusal(new Error(`there are ${own.length} tool messages for one call`));
  if (others.length > 0) follow(others);
  return own[0] === undefined ? result : outputOf(own[0]);
}

function outputOf(message: Message): Json {
  const part = message.parts.find(({ type }) => type === 'tool-result');
  return part?.type === 'tool-result' ? part.output : textOf(message);
}

function refused(error: unknown): never {
  throw refusal(error);
}

/** A stop and problems of the run pass; the model hears of other errors. */
function refusal(error: unknown): unknown {
  if (isCancellation(error) || (thrownCodeOf(error) !== undefined && !isToolProblem(error))) return error;
  return new HoldfastError('callback-failed', `tool callback error: ${messageOf(error)}`, { cause: error });
}
