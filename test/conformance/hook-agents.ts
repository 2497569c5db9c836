import type { AgentMiddleware, HookContext, Json, Message } from '../../workflows/index';
import type { AgenticMessage } from '../../middleware/forms/index';
import { agenticMiddleware, withInstruction, withTools, withToolsFunc } from '../../middleware/forms/index';
import { agentsFor } from '../../workflows/index';

const { defineAgent } = agentsFor();

const base = { description: 'Under test.', instructions: 'Be a test.', model: 'test/model', tools: ['echo', 'add', 'fail'] };
const under = (name: string, ...middleware: readonly AgentMiddleware[]) => defineAgent({ ...base, name, middleware });

const note = (ctx: { sendEvent(name: string, data: Json): void }, data: unknown): void => ctx.sendEvent('note', data as Json);
const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const kindsOf = ({ role, blocks }: AgenticMessage): readonly unknown[] => [role, blocks];
const throws = (hook: string): AgentMiddleware => ({
  name: 'failing',
  [hook]: () => {
    throw new Error('no');
  },
});

export const instructionsOfThree = under(
  'instructionsOfThree',
  withInstruction('One.'),
  withInstruction('Two.'),
  withInstruction('Three.'),
);
export const classicFirst = defineAgent({
  ...base,
  name: 'classicFirst',
  middleware: [withInstruction('Handler.'), { additionalInstruction: 'Classic.' }],
});
export const addsTool = defineAgent({ ...base, name: 'addsTool', tools: ['echo'], middleware: [withTools('add')] });
export const takesTool = under(
  'takesTool',
  withToolsFunc((names) => names.filter((name) => name !== 'add')),
);

const appends = (text: string): AgentMiddleware => ({
  name: text,
  beforeModelRewriteState: ({ messages }) => ({ messages: [...messages, user(text)] }),
});
export const appendsTwo = under('appendsTwo', appends('A'), appends('B'));

export const seesAnswer = under('seesAnswer', {
  name: 'watching',
  afterModelRewriteState: ({ messages }, ctx) => note(ctx, messages.at(-1)?.role),
});

export const passesValue = under(
  'passesValue',
  { name: 'first', beforeModelRewriteState: () => ({ values: { key: 'value' } }) },
  { name: 'second', beforeModelRewriteState: (_, ctx) => note(ctx, ctx.values['key']) },
);

export const throwsBeforeModel = under('throwsBeforeModel', throws('beforeModelRewriteState'));
export const throwsAfterModel = under('throwsAfterModel', throws('afterModelRewriteState'));
export const throwsAfterTools = under('throwsAfterTools', throws('afterToolCalls'));
export const throwsAtEnd = under('throwsAtEnd', throws('afterAgent'));

export const wrapsModel = under('wrapsModel', {
  name: 'around',
  async wrapModel(request, next, ctx) {
    note(ctx, ['before', ...request.tools]);
    const response = await next(request);
    note(ctx, ['after', response.message.id as string]);
    return response;
  },
});

export const modifies = under('modifies', {
  name: 'changing',
  wrapToolCall: async (call, next) => `modified: ${String(await next(call))}`,
});

const marks =
  (name: string): NonNullable<AgentMiddleware['wrapToolCall']> =>
  async (call, next) =>
    `${name}(${String(await next(call))})`;
export const wrapsInThreeWays = defineAgent({
  ...base,
  name: 'wrapsInThreeWays',
  middleware: [{ name: 'handler', wrapToolCall: marks('handler') }, { wrapToolCall: marks('classic') }],
  toolCallMiddlewares: [marks('first'), { invokable: marks('second') }],
});

export const namesCall = under('namesCall', {
  name: 'watching',
  wrapToolCall(call, next, ctx) {
    note(ctx, [call.name, call.id]);
    return next(call);
  },
});

export const passesToEnd = defineAgent({
  ...base,
  name: 'passesToEnd',
  tools: [],
  middleware: [
    { name: 'first', beforeAgent: () => ({ values: { key: 'value' } }), afterAgent: (_, ctx) => note(ctx, ctx.values['key']) },
    throws('afterAgent'),
    { name: 'later', afterAgent: (_, ctx) => note(ctx, 'later') },
  ],
});

export const seesEnd = under('seesEnd', { name: 'ending', afterAgent: ({ messages }, ctx) => note(ctx, messages.at(-1)?.parts) });
export const seesBlocksAtEnd = under(
  'seesBlocksAtEnd',
  agenticMiddleware({ name: 'ending', afterAgent: ({ messages }, ctx) => note(ctx, messages.map(kindsOf)) }),
);

export const edits = defineAgent({
  ...base,
  name: 'edits',
  middleware: [
    {
      afterChatModel: ({ messages }) => ({
        messages: [...messages.slice(0, -1), { role: 'assistant', parts: [{ type: 'text', text: 'Edited.' }] }],
      }),
    },
  ],
});

export const changes = under('changes', {
  name: 'changing',
  async wrapModel(request, next) {
    const response = await next(request);
    const parts = response.message.parts.map((part) => (part.type === 'text' ? { ...part, text: 'Changed.' } : part));
    return { ...response, message: { ...response.message, parts } };
  },
});

const kinds = ['echo', 'streams', 'enhanced', 'enhancedStreams'];
const watchesErrors: AgentMiddleware = {
  name: 'watching',
  wrapToolCall: (call, next, ctx) =>
    next(call).catch((error: Error & { readonly code?: string }) => {
      note(ctx, [call.name, error.code ?? '', error.message]);
      throw error;
    }),
};
export const throwsInWrap = defineAgent({
  ...base,
  name: 'throwsInWrap',
  tools: kinds,
  middleware: [
    watchesErrors,
    { name: 'throwing', wrapToolCall: ({ name }) => Promise.reject(Object.assign(new Error(`own of ${name}`), { code: 'tool-failed' })) },
  ],
});
export const seesErrors = under('seesErrors', watchesErrors, { name: 'passing', wrapToolCall: (call, next) => next(call) });

export const seesResult = defineAgent({
  ...base,
  name: 'seesResult',
  tools: kinds,
  middleware: [agenticMiddleware({ name: 'watching', afterToolCalls: ({ messages }, ctx) => note(ctx, messages.at(-1)) })],
});

export const remarks = under('remarks', {
  name: 'remarking',
  beforeModelRewriteState({ messages }, ctx) {
    const message = ctx.ensureMessageId(user('A remark.'));
    ctx.sendEvent({ message });
    return { messages: [...messages, message] };
  },
});

const before = (act: (ctx: HookContext) => void): AgentMiddleware => ({ name: 'hook', beforeModelRewriteState: (_, ctx) => act(ctx) });

export const readsUnset = under(
  'readsUnset',
  before((ctx) => note(ctx, ctx.runLocal.get('never') === undefined)),
);

class Custom {
  readonly inner = new Map();
}
export const setsOdd = under(
  'setsOdd',
  before((ctx) => ctx.runLocal.set('key', { at: new Custom() } as never)),
);
export const setsPlain = under(
  'setsPlain',
  before((ctx) => {
    for (const value of ['text', 1, true, 1.5] as const) {
      ctx.runLocal.set('key', value);
      note(ctx, ctx.runLocal.get('key'));
    }
  }),
);

export const namesUnknownTool = defineAgent({ ...base, name: 'namesUnknownTool', tools: ['echo', 'teleport'] });

const toolAliases = { add: { names: ['plus'], arguments: { a: ['first'] } } };
export const aliasedAdd = defineAgent({ ...base, name: 'aliasedAdd', toolAliases });
export const aliasedAndChanged = defineAgent({
  ...base,
  name: 'aliasedAndChanged',
  toolAliases,
  middleware: [withToolsFunc((names) => names.filter((name) => name === 'add'))],
});
export const aliasedAndAdded = defineAgent({
  ...base,
  name: 'aliasedAndAdded',
  tools: ['echo', 'add'],
  toolAliases,
  middleware: [withTools('fail')],
});

const copyOf = (message: AgenticMessage): AgenticMessage => ({ ...message, blocks: message.blocks.map((block) => ({ ...block })) });
const copying: AgentMiddleware = agenticMiddleware({
  name: 'copying',
  beforeModelRewriteState: ({ messages }) => ({ messages: messages.map(copyOf) }),
  async wrapModel(request, next) {
    const response = await next({ ...request, messages: request.messages.map(copyOf) });
    return { ...response, message: copyOf(response.message) };
  },
  afterModelRewriteState: ({ messages }) => ({ messages: messages.map(copyOf) }),
  afterToolCalls: ({ messages }) => ({ messages: messages.map(copyOf) }),
});
const ofParts = { ...base, tools: ['echo', 'asks'] };
export const partsTwice = defineAgent({ ...ofParts, name: 'partsTwice', maxIterations: 2 });
export const copiesTwice = defineAgent({ ...ofParts, name: 'copiesTwice', maxIterations: 2, middleware: [copying] });
export const partsDirect = defineAgent({ ...ofParts, name: 'partsDirect', returnDirectly: ['echo'] });
export const copiesDirect = defineAgent({ ...ofParts, name: 'copiesDirect', returnDirectly: ['echo'], middleware: [copying] });
export const parts = defineAgent({ ...ofParts, name: 'parts' });
export const copies = defineAgent({ ...ofParts, name: 'copies', middleware: [copying] });

const seesRequest = agenticMiddleware({
  name: 'watching',
  wrapModel(request, next, ctx) {
    note(ctx, [request.instructions, request.messages.map(kindsOf)]);
    return next(request);
  },
});
export const instructed = under('instructed', seesRequest);
export const uninstructed = defineAgent({ ...base, name: 'uninstructed', instructions: '', middleware: [seesRequest] });
