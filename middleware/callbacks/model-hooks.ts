import { codeOf } from '../../contract/errors';
import { frozen } from '../../contract/freeze';
import type { AgentMiddleware, ModelRequest, ModelResponse } from '../../kernel/define/middleware';
import { invocationOf } from './invocation';
import type { ChainAt } from './chain';
import { assistantMessage, failing, phaseFailure, shownError, throughStages } from './stages';
import type { AfterModelArgs, BeforeModelArgs, CallbackArgs, ModelRequestDraft } from './types';

type Before = readonly ChainAt<'beforeModel'>[];
type After = readonly ChainAt<'afterModel'>[];

type Answered =
  { readonly response: ModelResponse; readonly error?: undefined } | { readonly response?: undefined; readonly error: unknown };

export function modelHooks(before: Before, after: After): Pick<AgentMiddleware, 'wrapModel'> {
  if (before.length === 0 && after.length === 0) return {};
  return {
    async wrapModel(request, next, ctx) {
      const args = { invocation: invocationOf(ctx), values: ctx.values, request: draftOf(request) };
      const answered = await answer(before, args, (changed) => next({ ...changed, model: request.model }));
      if (answered.response?.finish === 'cancelled') return answered.response;
      return rewritten(after, args, answered);
    },
  };
}

async function answer(before: Before, args: BeforeModelArgs, next: (request: ModelRequest) => Promise<ModelResponse>): Promise<Answered> {
  const custom = (await throughStages(before, args).catch(failing('before model')))?.customResponse;
  if (custom !== undefined) return { response: responseOf(custom) };
  try {
    return { response: await next(args.request) };
  } catch (error) {
    if (codeOf(error)?.startsWith('model-') !== true) throw error;
    return { error };
  }
}

async function rewritten(
  after: After,
  { invocation, values, request }: CallbackArgs & { readonly request: ModelRequest },
  answered: Answered,
): Promise<ModelResponse> {
  const { response, error: failed } = answered;
  const shown = response === undefined ? { error: shownError(failed) } : { response: { ...response, message: frozen(response.message) } };
  const args: AfterModelArgs = { invocation, values, request, ...shown };
  const result = await throughStages(after, args).catch((error: unknown) => {
    throw error === args.error ? failed : phaseFailure('after model', error);
  });
  if (result?.customResponse !== undefined) return responseOf(result.customResponse);
  if (args.response === undefined) throw failed;
  return args.response;
}

function draftOf({ messages, tools, ...request }: ModelRequest): ModelRequestDraft {
  return { ...request, messages: [...messages], tools: [...tools] };
}

function responseOf(custom: string | ModelResponse): ModelResponse {
  return typeof custom === 'string' ? { message: assistantMessage(custom) } : custom;
}
