import type { MaybePromise } from '../../contract/maybe-promise';
import type { Form } from '../../contract/check';
import { func, problemOf, refusing, required, sentence, someTexts, text as textForm } from '../../contract/check';
import type { Message } from '../../contract/messages/messages';
import type { ToolCallWrap } from '../../kernel/define/classic-middleware';
import type { AgentMiddleware, HookContext } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';

type Change<Value> = (value: Value, ctx: HookContext) => MaybePromise<Value>;
type MessageHistory = readonly Message[];

function check(maker: string, given: unknown, wanted: Form): void {
  const problem = problemOf(required(wanted), given, 'its argument');
  if (problem !== undefined) refusing(maker)(sentence(problem));
}

function checkFunction(maker: string, given: unknown): void {
  check(maker, given, func);
}

/** An agent may have several of these. */
function numbered(middleware: AgentMiddleware): AgentMiddleware {
  return withTraits(middleware, { isNumbered: true });
}

/** Adds a text to the agent's instructions, a blank line between them. */
export function withInstruction(text: string): AgentMiddleware {
  check('withInstruction', text, textForm);
  return numbered({
    name: 'withInstruction',
    beforeAgent: ({ instructions }) => ({ instructions: [instructions, text].filter((part) => part !== '').join('\n\n') }),
  });
}

/** Makes the instructions of a run from those that there are. */
export function withInstructionFunc(change: Change<string>): AgentMiddleware {
  checkFunction('withInstructionFunc', change);
  return numbered({
    name: 'withInstructionFunc',
    beforeAgent: async ({ instructions }, ctx) => ({ instructions: await change(instructions, ctx) }),
  });
}

/** Adds tools that the worker has. */
export function withTools(...tools: readonly string[]): AgentMiddleware {
  check('withTools', tools, someTexts);
  return numbered({ name: 'withTools', beforeAgent: (setup) => ({ tools: [...new Set([...setup.tools, ...tools])] }) });
}

/** Adds, removes or picks the tools of a run. */
export function withToolsFunc(change: Change<readonly string[]>): AgentMiddleware {
  checkFunction('withToolsFunc', change);
  return numbered({ name: 'withToolsFunc', beforeAgent: async ({ tools }, ctx) => ({ tools: await change(tools, ctx) }) });
}

/** Rewrites the messages before each call of the model. What it returns stays. */
export function withBeforeModelRewriteHistory(change: Change<MessageHistory>): AgentMiddleware {
  checkFunction('withBeforeModelRewriteHistory', change);
  return numbered({
    name: 'withBeforeModelRewriteHistory',
    beforeModelRewriteState: async ({ messages }, ctx) => ({ messages: await change(messages, ctx) }),
  });
}

/** Rewrites the messages, the answer being the last one, after each call of the model. What it returns stays. */
export function withAfterModelRewriteHistory(change: Change<MessageHistory>): AgentMiddleware {
  checkFunction('withAfterModelRewriteHistory', change);
  return numbered({
    name: 'withAfterModelRewriteHistory',
    afterModelRewriteState: async ({ messages }, ctx) => ({ messages: await change(messages, ctx) }),
  });
}

/** Lies around the calls of tools of every kind. */
export function withToolCallWrapper(wrap: ToolCallWrap): AgentMiddleware {
  checkFunction('withToolCallWrapper', wrap);
  return numbered({ name: 'withToolCallWrapper', wrapToolCall: wrap });
}

/** Lies around the calls of tools that give their result at once. */
export function withInvokableToolCallWrapper(wrap: ToolCallWrap): AgentMiddleware {
  checkFunction('withInvokableToolCallWrapper', wrap);
  return numbered({ name: 'withInvokableToolCallWrapper', onlyKinds: ['invokable', 'enhanced'], wrapToolCall: wrap });
}

/** Lies around the calls of tools that stream. */
export function withStreamableToolCallWrapper(wrap: ToolCallWrap): AgentMiddleware {
  checkFunction('withStreamableToolCallWrapper', wrap);
  return numbered({ name: 'withStreamableToolCallWrapper', onlyKinds: ['streamable', 'enhanced-streamable'], wrapToolCall: wrap });
}
