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

/**
 * Adds a text to the agent's instructions, after a blank line.
 * @example
 * export const agent = defineAgent({
 *   name: 'support',
 *   description: 'Answers questions about orders.',
 *   instructions: 'You are careful.',
 *   model: 'default',
 *   tools: ['findOrder'],
 *   middleware: [withInstruction('Answer in one sentence.')],
 * });
 */
export function withInstruction(text: string): AgentMiddleware {
  return handler('withInstruction', text, textForm, {
    beforeAgent: ({ instructions }) => ({ instructions: [instructions, text].filter((part) => part !== '').join('\n\n') }),
  });
}

/**
 * Makes the instructions when an agent begins.
 * @example
 * export const personal = withInstructionFunc((instructions, ctx) => {
 *   const customer = String(ctx.values['customer'] ?? 'unknown');
 *   return `${instructions} The customer is ${customer}.`;
 * });
 */
export function withInstructionFunc(change: Change<string>): AgentMiddleware {
  return handler('withInstructionFunc', change, func, {
    beforeAgent: async ({ instructions }, ctx) => ({ instructions: await change(instructions, ctx) }),
  });
}

/**
 * Adds tools to an agent by name.
 * @example
 * export const agent = defineAgent({
 *   name: 'support',
 *   description: 'Answers questions about orders.',
 *   instructions: 'You are careful.',
 *   model: 'default',
 *   tools: ['findOrder'],
 *   middleware: [withTools('refund')],
 * });
 */
export function withTools(...tools: readonly string[]): AgentMiddleware {
  return handler('withTools', tools, someTexts, {
    beforeAgent: (setup) => ({ tools: [...new Set([...setup.tools, ...tools])] }),
  });
}

/**
 * Chooses the tools when an agent begins.
 * @example
 * export const trusted = withToolsFunc((tools, ctx) =>
 *   ctx.values['customer'] === undefined ? tools.filter((name) => name !== 'refund') : tools,
 * );
 */
export function withToolsFunc(change: Change<readonly string[]>): AgentMiddleware {
  return handler('withToolsFunc', change, func, {
    beforeAgent: async ({ tools }, ctx) => ({ tools: await change(tools, ctx) }),
  });
}

/**
 * Rewrites the messages before each model call. The result stays.
 * @example
 * export const recent = withBeforeModelRewriteHistory((messages, ctx) => {
 *   if (ctx.iteration <= 5) return messages;
 *   return messages.slice(-20);
 * });
 */
export function withBeforeModelRewriteHistory(change: Change<readonly Message[]>): AgentMiddleware {
  return handler('withBeforeModelRewriteHistory', change, func, {
    beforeModelRewriteState: async ({ messages }, ctx) => ({ messages: await change(messages, ctx) }),
  });
}

/**
 * Rewrites the messages after each model call; the answer is the last message. The result stays.
 * @example
 * export const recent = withAfterModelRewriteHistory((messages) => messages.slice(-20));
 * export const noted = withAfterModelRewriteHistory((messages, ctx) => {
 *   ctx.sendEvent('messages', messages.length);
 *   return messages;
 * });
 */
export function withAfterModelRewriteHistory(change: Change<readonly Message[]>): AgentMiddleware {
  return handler('withAfterModelRewriteHistory', change, func, {
    afterModelRewriteState: async ({ messages }, ctx) => ({ messages: await change(messages, ctx) }),
  });
}

/**
 * Wraps calls of tools of every kind.
 * @example
 * export const timed = withToolCallWrapper(async (call, next, ctx) => {
 *   const before = ctx.now();
 *   const result = await next(call);
 *   ctx.sendEvent('took', { tool: call.name, milliseconds: ctx.now() - before });
 *   return result;
 * });
 */
export function withToolCallWrapper(wrap: ToolCallWrap): AgentMiddleware {
  return handler('withToolCallWrapper', wrap, func, { wrapToolCall: wrap });
}

/**
 * Wraps calls of tools that return their result at once.
 * @example
 * export const known = withInvokableToolCallWrapper(async (call, next) => {
 *   if (call.name === 'findOrder') return 'A teapot.';
 *   return next(call);
 * });
 */
export function withInvokableToolCallWrapper(wrap: ToolCallWrap): AgentMiddleware {
  return handler('withInvokableToolCallWrapper', wrap, func, { onlyKinds: ['invokable', 'enhanced'], wrapToolCall: wrap });
}

/**
 * Wraps calls of tools that stream.
 * @example
 * export const cut = withStreamableToolCallWrapper(async (call, next) => {
 *   const result = await next(call);
 *   return typeof result === 'string' ? result.slice(0, 1000) : result;
 * });
 */
export function withStreamableToolCallWrapper(wrap: ToolCallWrap): AgentMiddleware {
  return handler('withStreamableToolCallWrapper', wrap, func, { onlyKinds: ['streamable', 'enhanced-streamable'], wrapToolCall: wrap });
}

/**
 * Shows readers the answer as it is at this place of the list, in `model-end`. Without the wrapper: after all wraps.
 * @example
 * export const agent = defineAgent({
 *   name: 'support',
 *   description: 'Answers questions about orders.',
 *   instructions: 'You are careful.',
 *   model: 'default',
 *   tools: ['findOrder'],
 *   middleware: [discreet, eventSenderModelWrapper()],
 * });
 */
export function eventSenderModelWrapper(): AgentMiddleware {
  const middleware: AgentMiddleware = { name: 'eventSenderModelWrapper', wrapModel: (request, next) => next(request) };
  return withTraits(middleware, { isNumbered: true, showsHere: 'model' });
}

/**
 * Shows readers the tool result as it is at this place of the list, in `tool-end`. A failed call shows its error from any place.
 * @example
 * export const agent = defineAgent({
 *   name: 'support',
 *   description: 'Answers questions about orders.',
 *   instructions: 'You are careful.',
 *   model: 'default',
 *   tools: ['findOrder'],
 *   middleware: [discreet, eventSenderToolWrapper()],
 * });
 */
export function eventSenderToolWrapper(): AgentMiddleware {
  const middleware: AgentMiddleware = { name: 'eventSenderToolWrapper', wrapToolCall: (call, next) => next(call) };
  return withTraits(middleware, { isNumbered: true, showsHere: 'tool' });
}
