import { HoldfastError } from '../../contract/errors';
import type { Message } from '../../contract/messages/messages';
import type { ToolCallWrap } from '../../kernel/define/classic-middleware';
import type { AgentMiddleware, HookContext, MaybePromise } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';

type Change<Value> = (value: Value, ctx: HookContext) => MaybePromise<Value>;
type History = readonly Message[];

function check(maker: string, fits: boolean, wanted: string): void {
  if (!fits) throw new HoldfastError('agent-invalid', `${maker} takes ${wanted}.`);
}

function checkFunction(maker: string, given: unknown): void {
  check(maker, typeof given === 'function', 'a function');
}

/** An agent may have several of these. */
function numbered(middleware: AgentMiddleware): AgentMiddleware {
  return withTraits(middleware, { isNumbered: true });
}

/** Adds a text to the agent's instructions, a blank line between them. */
export function withInstruction(text: string): AgentMiddleware {
  check('withInstruction', typeof text === 'string', 'a text');
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
  const isNames = tools.length > 0 && tools.every((tool: unknown) => typeof tool === 'string' && tool !== '');
  check('withTools', isNames, 'names of tools, at least one');
  return numbered({ name: 'withTools', beforeAgent: (setup) => ({ tools: [...new Set([...setup.tools, ...tools])] }) });
}

/** Adds, removes or picks the tools of a run. */
export function withToolsFunc(change: Change<readonly string[]>): AgentMiddleware {
  checkFunction('withToolsFunc', change);
  return numbered({ name: 'withToolsFunc', beforeAgent: async ({ tools }, ctx) => ({ tools: await change(tools, ctx) }) });
}

/** Rewrites the messages before each call of the model. What it returns stays. */
export function withBeforeModelRewriteHistory(change: Change<History>): AgentMiddleware {
  checkFunction('withBeforeModelRewriteHistory', change);
  return numbered({
    name: 'withBeforeModelRewriteHistory',
    beforeModelRewriteState: async ({ messages }, ctx) => ({ messages: await change(messages, ctx) }),
  });
}

/** Rewrites the messages, the answer being the last one, after each call of the model. What it returns stays. */
export function withAfterModelRewriteHistory(change: Change<History>): AgentMiddleware {
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
