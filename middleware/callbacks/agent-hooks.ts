import { defined } from '../../contract/defined';
import type { Failure, Message } from '../../contract/messages/messages';
import type { AgentMiddleware, AgentState, HookContext } from '../../kernel/define/middleware';
import { invocationOf } from './invocation';
import type { ChainAt } from './chain';
import { assistantMessage, failing, phaseFailure, shownError, throughStages } from './stages';
import type { AfterAgentArgs, BeforeAgentResult } from './types';
import { errorOf } from '../../kernel/effects/errors';

type AgentHooks = Pick<AgentMiddleware, 'beforeAgent' | 'afterAgent' | 'afterFailure'>;
type Before = readonly ChainAt<'beforeAgent'>[];
type After = readonly ChainAt<'afterAgent'>[];

export function agentHooks(before: Before, after: After): AgentHooks {
  return {
    ...(before.length === 0 ? {} : { beforeAgent: (_, ctx) => runBefore(before, ctx) }),
    ...(after.length === 0
      ? {}
      : {
          afterAgent: (state, ctx) => runAfter(after, state, ctx),
          afterFailure: (failure, state, ctx) => runAfter(after, state, ctx, failure),
        }),
  } satisfies AgentHooks;
}

async function runBefore(before: Before, ctx: HookContext): Promise<{ answer?: Message; values?: BeforeAgentResult['values'] }> {
  const result = await throughStages(before, { invocation: invocationOf(ctx), values: ctx.values }).catch(failing('before agent'));
  const { customResponse, values } = result ?? {};
  return {
    ...defined({ values }),
    ...(customResponse === undefined ? {} : { answer: assistantMessage(customResponse) }),
  };
}

async function runAfter(after: After, state: AgentState, ctx: HookContext, failure?: Failure): Promise<{ append: readonly Message[] }> {
  const append: Message[] = [];
  const last = state.messages.at(-1);
  // The ending result need not be the last message: other calls have results, too.
  const direct = last?.role === 'assistant' ? undefined : ctx.directAnswer;
  let response: Message | undefined = direct ?? (last?.role === 'user' ? undefined : last);
  let { values } = ctx;
  for (const chain of after) {
    const args: AfterAgentArgs = {
      invocation: invocationOf(ctx),
      values,
      ...defined({ response }),
      ...(failure === undefined ? {} : { error: shownError(errorOf(failure)) }),
    };
    const { result, error } = await chain.run(args);
    if (error !== undefined && error !== args.error) throw phaseFailure('after agent', error);
    ({ values } = args);
    if (result?.customResponse === undefined) continue;
    response = assistantMessage(result.customResponse);
    append.push(response);
  }
  return { append };
}
