import type { MaybePromise } from '../../contract/maybe-promise';
import type { Form } from '../../contract/check';
import { func, problemOf, refusing, required, sentence, someTexts, text as textForm } from '../../contract/check';
import type { Message } from '../../contract/messages/messages';
import type { ToolCallWrap } from '../../kernel/define/classic-middleware';
import type { AgentMiddleware, HookContext } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';

type Change<Value> = (value: Value, ctx: HookContext) => MaybePromise<Value>;

function handler(name: string, given: unknown, wanted: Form, hooks: Omit<AgentMiddleware, 'name'>): AgentMiddleware {
  const problem = problemOf(required(wanted), given, 'its argument');
  if (problem !== undefined) refusing(name)(sentence(problem));
  return withTraits({ name, ...hooks }, { isNumbered: true });
}

/** Adds a text after a blank line. */
export function withInstruction(text: string): AgentMiddleware {
  return handler('withInstruction', text, textForm, {
    beforeAgent: ({ instructions }) => ({ instructions: [instructions, text].filter((part) => part !== '').join('\n\n') }),
  });
}

export function withInstructionFunc(change: Change<string>): AgentMiddleware {
  return handler('withInstructionFunc', change, func, {
    beforeAgent: async ({ instructions }, ctx) => ({ instructions: await change(instructions, ctx) }),
  });
}

export function withTools(...tools: readonly string[]): AgentMiddleware {
  return handler('withTools', tools, someTexts, {
    beforeAgent: (setup) => ({ tools: [...new Set([...setup.tools, ...tools])] }),
  });
}

export function withToolsFunc(change: Change<readonly string[]>): AgentMiddleware {
  return handler('withToolsFunc', change, func, {
    beforeAgent: async ({ tools }, ctx) => ({ tools: await change(tools, ctx) }),
  });
}

/** Runs before model calls. The result stays. */
export function withBeforeModelRewriteHistory(change: Change<readonly Message[]>): AgentMiddleware {
  return handler('withBeforeModelRewriteHistory', change, func, {
    beforeModelRewriteState: async ({ messages }, ctx) => ({ messages: await change(messages, ctx) }),
  });
}

/** Runs after model calls; the answer is the last message. The result stays. */
export function withAfterModelRewriteHistory(change: Change<readonly Message[]>): AgentMiddleware {
  return handler('withAfterModelRewriteHistory', change, func, {
    afterModelRewriteState: async ({ messages }, ctx) => ({ messages: await change(messages, ctx) }),
  });
}

/** For tools of every kind. */
export function withToolCallWrapper(wrap: ToolCallWrap): AgentMiddleware {
  return handler('withToolCallWrapper', wrap, func, { wrapToolCall: wrap });
}

/** For tools that return their result at once. */
export function withInvokableToolCallWrapper(wrap: ToolCallWrap): AgentMiddleware {
  return handler('withInvokableToolCallWrapper', wrap, func, { onlyKinds: ['invokable', 'enhanced'], wrapToolCall: wrap });
}

/** For tools that stream. */
export function withStreamableToolCallWrapper(wrap: ToolCallWrap): AgentMiddleware {
  return handler('withStreamableToolCallWrapper', wrap, func, { onlyKinds: ['streamable', 'enhanced-streamable'], wrapToolCall: wrap });
}

/** `model-end` has the answer at this place of the list. Without the wrapper: after all wraps. */
export function eventSenderModelWrapper(): AgentMiddleware {
  const middleware: AgentMiddleware = { name: 'eventSenderModelWrapper', wrapModel: (request, next) => next(request) };
  return withTraits(middleware, { isNumbered: true, showsHere: 'model' });
}

/** Places `tool-end` in the list. A failed call shows its error from any place. */
export function eventSenderToolWrapper(): AgentMiddleware {
  const middleware: AgentMiddleware = { name: 'eventSenderToolWrapper', wrapToolCall: (call, next) => next(call) };
  return withTraits(middleware, { isNumbered: true, showsHere: 'tool' });
}
