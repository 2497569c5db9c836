import type { AgenticMessage } from '../../contract/messages/agentic-messages';
import type { ChatMessage } from '../../contract/messages/chat-messages';
import { HoldfastError } from '../../contract/errors';
import type { MessageShape, MessageShapes } from '../../contract/messages/message-shapes';
import { isAnyMessage } from '../../contract/messages/message-shapes';
import type { Json, Message } from '../../contract/messages/messages';
import { classicFields } from '../../kernel/define/classic-middleware';
import { frozen } from '../../contract/freeze';
import { MessageSight } from './message-sight';
import type {
  AgentEvent,
  AgentMiddleware,
  AgentState,
  Ending,
  HookContext,
  ModelRequest,
  ModelResponse,
  RunSetup,
  Tools,
} from '../../kernel/define/middleware';
import { labelOf } from '../../kernel/effects/errors';

/**
 * Makes a middleware whose hooks and `ctx` take and return agentic messages. Unchanged messages keep their ids, and events and transcript
 * stay as stored.
 * @example
 * const withoutReasoning = (message: AgenticMessage): AgenticMessage => ({
 *   ...message,
 *   blocks: message.blocks.filter(({ type }) => type !== 'reasoning'),
 * });
 * export const forgetful = agenticMiddleware({
 *   name: 'forgetful',
 *   wrapModel: (request, next) => next({ ...request, messages: request.messages.map(withoutReasoning) }),
 * });
 */
export function agenticMiddleware<T extends Tools = Tools>(middleware: AgentMiddleware<T, AgenticMessage>): AgentMiddleware<T> {
  return inShape('agentic', middleware as unknown as AgentMiddleware<Tools, AgenticMessage>, 'agenticMiddleware');
}

/**
 * Makes a middleware whose hooks and `ctx` take and return messages of chat completions.
 * @example
 * export const concise = chatMiddleware({
 *   name: 'concise',
 *   beforeModelRewriteState: ({ messages }, ctx) =>
 *     ctx.iteration === 1 ? { messages: [...messages, { role: 'user', content: 'Answer in one sentence.' }] } : undefined,
 * });
 */
export function chatMiddleware<T extends Tools = Tools>(middleware: AgentMiddleware<T, ChatMessage>): AgentMiddleware<T> {
  return inShape('chat', middleware as unknown as AgentMiddleware<Tools, ChatMessage>, 'chatMiddleware');
}

type Sight<Shape extends MessageShape> = MessageSight<Shape>;
const stateHooks = ['beforeModelRewriteState', 'afterModelRewriteState', 'afterToolCalls', 'afterAgent'] as const;

function inShape<Shape extends MessageShape>(
  shape: Shape,
  middleware: AgentMiddleware<Tools, MessageShapes[Shape]>,
  maker: string,
): AgentMiddleware {
  check(middleware, maker);
  const sightIn = (hook: string): Sight<Shape> => new MessageSight(shape, labelOf(hook, middleware.name));
  const stateHook = (hook: (typeof stateHooks)[number]) => async (state: AgentState, ctx: HookContext) => {
    const sight = sightIn(hook);
    return takenUpdate(await middleware[hook]?.(shownState(state, sight), contextIn(ctx, sight)), sight);
  };
  const hooks: Omit<AgentMiddleware, 'name'> = {
    ...Object.fromEntries(stateHooks.map((hook) => [hook, stateHook(hook)])),
    async beforeAgent(setup, ctx) {
      const sight = sightIn('beforeAgent');
      return takenUpdate(await middleware.beforeAgent?.(setup, contextIn(ctx, sight)), sight);
    },
    async afterFailure(failure, state, ctx) {
      const sight = sightIn('afterFailure');
      return takenUpdate(await middleware.afterFailure?.(failure, shownState(state, sight), contextIn(ctx, sight)), sight);
    },
    async wrapModel(request, next, ctx) {
      const sight = sightIn('wrapModel');
      const passOn = async (changed: ModelRequest<MessageShapes[Shape]>): Promise<ModelResponse<MessageShapes[Shape]>> => {
        const response = await next(takenRequest(changed, sight));
        return frozen({ ...response, message: sight.showOne(response.message) });
      };
      const shown = frozen({ ...request, messages: sight.show(request.messages) });
      const response = await middleware.wrapModel?.(shown, (changed) => handled(passOn(changed)), contextIn(ctx, sight));
      return takenResponse(response, sight);
    },
    wrapToolCall: async (call, next, ctx) => (await middleware.wrapToolCall?.(call, next, contextIn(ctx, sightIn('wrapToolCall')))) as Json,
  };
  const own = Object.entries(hooks).filter(([hook]) => middleware[hook as keyof AgentMiddleware] !== undefined);
  return { ...middleware, ...Object.fromEntries(own) } as AgentMiddleware;
}

function check(middleware: unknown, maker: string): void {
  if (typeof middleware !== 'object' || middleware === null)
    throw new HoldfastError('agent-invalid', `${maker} takes a middleware: an object with a name and hooks.`);
  const classic = classicFields.find((field) => field in middleware);
  if (classic !== undefined)
    throw new HoldfastError(
      'agent-invalid',
      `${maker} got ${classic}, a field of the classic form, which sees messages as they are stored. Use the hooks of a handler.`,
    );
}

function shownState<Shape extends MessageShape>({ messages, ...rest }: AgentState, sight: Sight<Shape>): AgentState<MessageShapes[Shape]> {
  return frozen({ ...rest, messages: sight.show(messages) });
}

interface Returned<M> {
  readonly messages?: readonly M[];
  readonly append?: readonly M[];
  readonly answer?: M;
}

type Taken =
  | undefined
  | (Partial<AgentState & RunSetup & Ending> & {
      readonly values?: Readonly<Record<string, Json>>;
      readonly append?: readonly Message[];
    });

function takenUpdate<Shape extends MessageShape>(update: unknown, sight: Sight<Shape>): Taken {
  if (typeof update !== 'object' || update === null || Array.isArray(update)) return update as Taken;
  const { messages, append, answer } = update as Returned<MessageShapes[Shape]>;
  return {
    ...update,
    ...(messages === undefined ? {} : { messages: sight.take(messages) }),
    ...(append === undefined ? {} : { append: sight.take(append) }),
    ...(answer === undefined ? {} : { answer: sight.takeOne(answer, 'The answer') }),
  };
}

function takenRequest<Shape extends MessageShape>(changed: unknown, sight: Sight<Shape>): ModelRequest {
  if (typeof changed !== 'object' || changed === null) return changed as ModelRequest;
  return { ...changed, messages: sight.take((changed as ModelRequest<MessageShapes[Shape]>).messages) } as ModelRequest;
}

function takenResponse<Shape extends MessageShape>(response: unknown, sight: Sight<Shape>): ModelResponse {
  const message: unknown = (response as Partial<ModelResponse> | null | undefined)?.message;
  if (!isAnyMessage(message)) return response as ModelResponse;
  return { ...(response as ModelResponse), message: sight.takeOne(message as MessageShapes[Shape], 'The response') };
}

function contextIn<Shape extends MessageShape>(ctx: HookContext, sight: Sight<Shape>): HookContext<Tools, MessageShapes[Shape]> {
  type Shaped = HookContext<Tools, MessageShapes[Shape]>;
  const sendEvent = (event: string | AgentEvent<MessageShapes[Shape]>, data: never): void => {
    if (typeof event !== 'object' || event === null || event.message === undefined) return ctx.sendEvent(event as string, data);
    ctx.sendEvent({ ...event, message: sight.takeOne(event.message, 'An event') });
  };
  const ensureMessageId: Shaped['ensureMessageId'] = (message) => {
    const ensured: Message = ctx.ensureMessageId(sight.takeOne(message, 'A message of ctx.ensureMessageId'));
    return sight.showOne(ensured) as ReturnType<Shaped['ensureMessageId']>;
  };
  const model: Shaped['model'] = (name, request) => {
    const ask = async (): Promise<ModelResponse<MessageShapes[Shape]>> => {
      const response = await ctx.model(name, { ...request, messages: sight.take(request.messages) });
      return frozen({ ...response, message: sight.showOne(response.message) });
    };
    return handled(ask());
  };
  type Branches = Readonly<Record<string, (inner: Shaped) => unknown>>;
  const race = (branches: Branches): Promise<unknown> =>
    ctx.race(
      Object.fromEntries(Object.entries(branches ?? {}).map(([name, act]) => [name, (inner: HookContext) => act(contextIn(inner, sight))])),
    );
  const within = (duration: string, act: (inner: Shaped) => unknown): Promise<unknown> =>
    ctx.within(duration, (inner) => act(contextIn(inner, sight)));
  const namedCalls: Shaped['namedCalls'] = (message) => ctx.namedCalls(sight.takeOne(message, 'A message of ctx.namedCalls'));
  const shaped = { sendEvent, ensureMessageId, model, race, within, namedCalls };
  // Not copied: `values`, `usage` and `iteration` change while a hook runs.
  return Object.assign(Object.create(ctx) as object, shaped) as unknown as Shaped;
}

/** A hook may drop the promise without failing the workflow task. */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
