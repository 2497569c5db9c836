import type { MaybePromise } from '../../contract/maybe-promise';
import type { Form } from '../../contract/check';
import { func, problemOf, refusing, required, sentence, someTexts, text as textForm } from '../../contract/check';
import type { Message } from '../../contract/messages/messages';
import type { ToolCallWrap } from '../../kernel/define/classic-middleware';
import type { AgentMiddleware, HookContext } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';

type Change<Value> = (value: Value, ctx: HookContext) => MaybePromise<Value>;

/** A middleware of which an agent may have several, if its maker got a fitting argument. */
function handler(name: string, given: unknown, wanted: Form, hooks: Omit<AgentMiddleware, 'name'>): AgentMiddleware {
  const problem = problemOf(required(wanted), given, 'its argument');
  if (problem !== undefined) refusing(name)(sentence(problem));
  return withTraits({ name, ...hooks }, { isNumbered: true });
}

/** Adds a text to the agent's instructions, a blank line between them. */
export function withInstruction(text: string): AgentMiddleware {
  return handler('withInstruction', text, textForm, {
    beforeAgent: ({ instructions }) => ({ instructions: [instructions, text].filter((part) => part !== '').join('\n\n') }),
  });
}

/** Makes the instructions of a run from those that there are. */
export function withInstructionFunc(change: Change<string>): AgentMiddleware {
  return handler('withInstructionFunc', change, func, {
    beforeAgent: async ({ instructions }, ctx) => ({ instructions: await change(instructions, ctx) }),
  });
}

/** Adds tools that the worker has. */
export function withTools(...tools: readonly string[]): AgentMiddleware {
  return handler('withTools', tools, someTexts, {
    beforeAgent: (setup) => ({ tools: [...new Set([...setup.tools, ...tools])] }),
  });
}

/** Adds, removes or picks the tools of a run. */
export function withToolsFunc(change: Change<readonly string[]>): AgentMiddleware {
  return handler('withToolsFunc', change, func, {
    beforeAgent: async ({ tools }, ctx) => ({ tools: await change(tools, ctx) }),
  });
}

/** Rewrites the messages before each call of the model. What it returns stays. */
export function withBeforeModelRewriteHistory(change: Change<readonly Message[]>): AgentMiddleware {
  return handler('withBeforeModelRewriteHistory', change, func, {
    beforeModelRewriteState: async ({ messages }, ctx) => ({ messages: await change(messages, ctx) }),
  });
}

/** Rewrites the messages, the answer being the last one, after each call of the model. What it returns stays. */
export function withAfterModelRewriteHistory(change: Change<readonly Message[]>): AgentMiddleware {
  return handler('withAfterModelRewriteHistory', change, func, {
    afterModelRewriteState: async ({ messages }, ctx) => ({ messages: await change(messages, ctx) }),
  });
}

/** Lies around the calls of tools of every kind. */
export function withToolCallWrapper(wrap: ToolCallWrap): AgentMiddleware {
  return handler('withToolCallWrapper', wrap, func, { wrapToolCall: wrap });
}

/** Lies around the calls of tools that give their result at once. */
export function withInvokableToolCallWrapper(wrap: ToolCallWrap): AgentMiddleware {
  return handler('withInvokableToolCallWrapper', wrap, func, { onlyKinds: ['invokable', 'enhanced'], wrapToolCall: wrap });
}

/** Lies around the calls of tools that stream. */
export function withStreamableToolCallWrapper(wrap: ToolCallWrap): AgentMiddleware {
  return handler('withStreamableToolCallWrapper', wrap, func, { onlyKinds: ['streamable', 'enhanced-streamable'], wrapToolCall: wrap });
}
