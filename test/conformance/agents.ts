import type { AgentMiddleware, HookContext, Json, ModelResponse } from '../../workflows/index';
import type { AgenticMessage } from '../../middleware/forms/index';
import {
  agenticMiddleware,
  eventSenderModelWrapper,
  eventSenderToolWrapper,
  withInvokableToolCallWrapper,
  withStreamableToolCallWrapper,
  withTools,
} from '../../middleware/forms/index';
import { agentsFor } from '../../workflows/index';

const { defineAgent } = agentsFor();

const base = {
  description: 'Under test.',
  instructions: 'Be a test.',
  model: 'test/model',
  tools: ['echo', 'streams', 'enhanced', 'enhancedStreams', 'asks', 'asksPlainly', 'fail'],
};

const under = (name: string, ...middleware: readonly AgentMiddleware[]) => defineAgent({ ...base, name, middleware });
const note = (ctx: HookContext, data: Json): void => ctx.sendEvent('note', data);
const user = (text: string) => ({ role: 'user' as const, parts: [{ type: 'text' as const, text }] });

function withText(response: ModelResponse, text: string): ModelResponse {
  const parts = response.message.parts.map((part) => (part.type === 'text' ? { ...part, text } : part));
  return { ...response, message: { ...response.message, parts } };
}

function around(name: string): AgentMiddleware {
  return {
    name,
    async wrapModel(request, next, ctx) {
      note(ctx, `${name} before`);
      const response = await next(request);
      note(ctx, `${name} after`);
      return response;
    },
    wrapToolCall: async (call, next) => `${name}(${textOfOutput(await next(call))})`,
  };
}

function textOfOutput(output: Json): string {
  if (typeof output === 'string') return output;
  const parts = output as readonly { readonly text?: string; readonly type?: string }[];
  return Array.isArray(output) ? parts.map(({ text, type }) => text ?? type).join('+') : JSON.stringify(output);
}

export const plain = defineAgent({ ...base, name: 'plain' });

export const givenTool = defineAgent({ ...base, name: 'givenTool', tools: [], middleware: [withTools('echo')] });

export const counted = under('counted', {
  name: 'counting',
  beforeAgent: (_, ctx) => note(ctx, 'beforeAgent'),
  beforeModelRewriteState: (_, ctx) => note(ctx, 'beforeModel'),
  afterModelRewriteState: (_, ctx) => note(ctx, 'afterModel'),
  afterToolCalls: (state, ctx) => note(ctx, ['afterTools', state.messages.at(-1)?.role ?? '']),
  afterAgent: (state, ctx) => note(ctx, ['afterAgent', state.messages.map(({ role }) => role).join(' ')]),
});

export const breaking = under('breaking', {
  name: 'breaking',
  beforeAgent: () => {
    throw new Error('no');
  },
});

export const wrapped = under('wrapped', around('one'), around('two'));

export const prefixed = under('prefixed', {
  name: 'prefixing',
  wrapModel: (request, next) => next({ ...request, messages: [user('Prefixed.'), ...request.messages.slice(1)] }),
});

export const injecting = under('injecting', {
  name: 'injecting',
  afterToolCalls: ({ messages }) => ({ messages: [...messages, user('Mind the gap.')] }),
});

export const direct = defineAgent({
  ...base,
  name: 'direct',
  returnDirectly: ['echo', 'streams'],
  middleware: [{ name: 'ending', afterAgent: (state, ctx) => note(ctx, state.messages.map(({ role }) => role).join(' ')) }],
});

export const addsCall = defineAgent({
  ...base,
  name: 'addsCall',
  middleware: [
    {
      afterChatModel: ({ messages }, ctx) =>
        ctx.iteration > 1
          ? undefined
          : {
              messages: [
                ...messages.slice(0, -1),
                { role: 'assistant', parts: [{ type: 'tool-call', id: 'added', name: 'echo', input: { text: 'added' } }] },
              ],
            },
    },
  ],
});

const marks =
  (name: string) =>
  async (call: { readonly name: string }, next: (call: never) => Promise<Json>): Promise<Json> =>
    `${name}(${textOfOutput(await next(call as never))})`;

export const classicWraps = defineAgent({
  ...base,
  name: 'classicWraps',
  middleware: [
    around('handler'),
    { wrapToolCall: marks('first') },
    {
      wrapToolCall: {
        invokable: marks('invokable'),
        streamable: marks('streamable'),
        enhancedInvokable: marks('enhanced'),
        enhancedStreamable: marks('enhancedStreams'),
      },
    },
  ],
});

export const rewritten = defineAgent({
  ...base,
  name: 'rewritten',
  middleware: [around('handler')],
  toolCallMiddlewares: [async () => 'rewritten'],
});

export const passing = under('passing', { name: 'passing', wrapModel: (request, next) => next(request) });

const louder: AgentMiddleware = {
  name: 'louder',
  wrapModel: async (request, next) => withText(await next(request), 'Changed.'),
  wrapToolCall: async (call, next) => (await next(call), 'changed'),
};

export const senderInside = under('senderInside', louder, eventSenderModelWrapper(), eventSenderToolWrapper());

export const remembers = under('remembers', {
  name: 'remembering',
  beforeModelRewriteState(_, ctx) {
    note(ctx, ['before', ctx.runLocal.get('value') ?? null]);
    ctx.runLocal.set('value', ctx.iteration);
  },
  afterModelRewriteState: (_, ctx) => note(ctx, ['after', ctx.runLocal.get('value') ?? null]),
});

export const acts = under('acts', {
  name: 'acting',
  async wrapToolCall(call, next, ctx) {
    ctx.sendToolAction({ of: call.id });
    return next(call);
  },
});

export const exits = defineAgent({ ...base, name: 'exits', exitTool: true });

export const answersUnknown = defineAgent({ ...base, name: 'answersUnknown', unknownTool: (name) => `no ${name}` });

export const byKind = under('byKind', withInvokableToolCallWrapper(marks('whole')), withStreamableToolCallWrapper(marks('stream')));

export const optioned = defineAgent({ ...base, name: 'optioned', tools: ['echo', 'optioned'] });

export const optionsWrapped = defineAgent({
  ...base,
  name: 'optionsWrapped',
  tools: ['optioned'],
  middleware: [
    {
      name: 'outer',
      wrapToolCall(call, next, ctx) {
        note(ctx, call.options ?? null);
        return next({ ...call, options: { ...call.options, outer: true } });
      },
    },
    {
      name: 'inner',
      wrapToolCall(call, next, ctx) {
        note(ctx, call.options ?? null);
        return next({ id: call.id, name: call.name, input: call.input });
      },
    },
  ],
});

export const aliased = defineAgent({
  ...base,
  name: 'aliased',
  tools: ['echo', 'add'],
  toolAliases: { echo: { names: ['say'], arguments: { text: ['words'] } }, add: { names: ['sum'] } },
});

export const asksThree = under('asksThree', {
  name: 'asking',
  async beforeAgent(_, ctx) {
    const answers = await Promise.all(['p0', 'p1', 'p2'].map((info) => ctx.interrupt<Json>(info)));
    note(ctx, answers);
  },
});

export const asksForHistory = under('asksForHistory', {
  name: 'history',
  async wrapToolCall(call, next, ctx) {
    const [output, history] = await Promise.all([next(call), ctx.interrupt<string>('history')]);
    ctx.runLocal.set('history', history);
    return output;
  },
  beforeModelRewriteState({ messages }, ctx) {
    const history = ctx.runLocal.get('history');
    if (history === undefined) return;
    return { messages: messages.map((message) => (message.role === 'user' ? user(String(history)) : message)) };
  },
});

export const directAsks = defineAgent({
  ...base,
  name: 'directAsks',
  tools: ['echo', 'asks'],
  returnDirectly: ['echo'],
  middleware: [withTools('streams')],
});

const kindsOf = ({ role, blocks }: AgenticMessage): string => `${role} ${blocks.map(({ type }) => type).join(' ')}`;
const copyOf = <M extends AgenticMessage>(message: M): M => ({ ...message, blocks: [...message.blocks] });

export const agentic = under(
  'agentic',
  agenticMiddleware({
    name: 'agentic',
    beforeModelRewriteState({ messages }, ctx) {
      ctx.sendEvent('note', messages.map(kindsOf));
      return { messages: messages.map(copyOf) };
    },
    async wrapModel(request, next) {
      const response = await next({ ...request, messages: request.messages.map(copyOf) });
      return { ...response, message: copyOf(response.message) };
    },
    afterToolCalls: ({ messages }) => ({ messages: messages.map(copyOf) }),
  }),
);
const puttingBack: AgentMiddleware = {
  name: 'puttingBack',
  wrapModel: (request, next) => next({ ...request, tools: ['echo'], settings: { ...request.settings, toolChoice: 'required' } }),
};

export const answersLast = defineAgent({
  ...base,
  name: 'answersLast',
  maxIterations: { limit: 1, finalize: 'Answer now.' },
  settings: { temperature: 0.5, toolChoice: 'required' },
  middleware: [puttingBack],
});

export const bothLimits = defineAgent({
  ...base,
  name: 'bothLimits',
  maxIterations: { limit: 2, finalize: 'The last call.' },
  maxToolIterations: { limit: 1, finalize: 'No more tools.' },
});

export const toolsPastBudget = defineAgent({
  ...base,
  name: 'toolsPastBudget',
  maxIterations: 1,
  maxToolIterations: { limit: 1, finalize: 'No more tools.' },
});

export const oneToolIteration = defineAgent({ ...base, name: 'oneToolIteration', tools: ['echo', 'pickColor'], maxToolIterations: 1 });

export const external = defineAgent({ ...base, name: 'external', tools: ['echo', 'pickColor'] });

export const refusesFirst = under('refusesFirst', {
  name: 'refusing',
  beforeModelRewriteState: (state) => {
    const [part] = state.messages.at(-1)?.parts ?? [];
    if (part?.type === 'text' && part.text === 'refuse') throw new Error('Not so.');
  },
});
