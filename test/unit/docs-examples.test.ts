import { tool } from '@ai-sdk/provider-utils';
import { z } from 'zod';
import type { Delta, HoldfastClient, Run, RunEvent } from 'holdfast/client';
import { recordHistory, replayHistories, scriptedModel, testRun } from 'holdfast/testing';
import type { GenerateRequest, LanguageModel, ModelChunk, Observer } from 'holdfast/worker';
import { answerOfChunks, defineTool, defineWorkerMiddleware, messagesIn } from 'holdfast/worker';
import type { AgentMiddleware, Json, Message, Part } from 'holdfast/workflow';
import { agentsFor, onWorker, textOf } from 'holdfast/workflow';
import { approval } from 'holdfast/middleware';
import { eventSenderToolWrapper, withInstruction } from 'holdfast/eino';
import { agentTool, breakLoopAction, customAgent, loop, runAgentAsChild, sequential, supervisor } from 'holdfast/workflow';
import { setSubAgents } from 'holdfast/eino';
import { parallel } from 'holdfast/workflow';
import { patchToolCalls } from 'holdfast/middleware';
import { agenticMiddleware, chatMiddleware } from 'holdfast/eino';
import { StopError, withTraits } from 'holdfast/workflow';
import { agentCallbacks, callbacks, modelCallbacks, plugin, toolCallbacks } from 'holdfast/callbacks';
import { describeExamples } from '../support/document-examples';

/** The examples of these documents, word for word; imports stand above. The last tests compare. */
const documents = [
  'guides/agents',
  'guides/teams',
  'coming-from/eino',
  'coming-from/trpc',
  'reference/messages',
  'guides/middleware',
  'guides/trying-again',
  'guides/streaming',
  'guides/testing',
  'guides/tools',
  'reference/middleware-forms',
];
const shortDocuments = [
  'concepts',
  'coming-from/ai-sdk',
  'coming-from/langgraph',
  'guides/approvals',
  'guides/custom-agents',
  'guides/isolated-agents',
  'reference/hooks',
  'reference/middleware/README',
  'reference/middleware/approval',
];

interface Payment {
  readonly paid: number;
  readonly reference: string;
}
const payments = new Map<string, Payment>();
const bank = {
  pay: async ({ amount, key }: { amount: number; key: string }): Promise<Payment> => {
    const payment = { paid: amount, reference: key };
    payments.set(key, payment);
    return payment;
  },
  find: async (key: string): Promise<Payment | undefined> => payments.get(key),
};
const log = jest.fn();

beforeEach(() => {
  payments.clear();
  log.mockClear();
});

// agents.md

export const tools = {
  findOrder: defineTool({
    description: 'Finds an order by its number.',
    inputSchema: z.object({ orderId: z.string() }),
    execute: ({ orderId }) => ({ orderId, item: 'Teapot', total: 80 }),
  }),
  refund: defineTool({
    description: 'Pays money back for an order.',
    inputSchema: z.object({ orderId: z.string(), amount: z.number().positive() }),
    effect: 'once',
    execute: ({ amount }, call) => bank.pay({ amount, key: call.idempotencyKey }),
    reconcile: async (_, call) => {
      const payment = await bank.find(call.idempotencyKey);
      return payment === undefined ? { happened: false } : { happened: true, result: payment };
    },
  }),
  chooseSlot: defineTool({
    description: 'Lets the customer choose a time of delivery.',
    inputSchema: z.object({ orderId: z.string() }),
    execute: ({ orderId }, call) => {
      if (call.resumed === undefined) {
        return call.interrupt({ question: 'When?', slots: ['am', 'pm'] }, { answerSchema: z.object({ slot: z.string() }) });
      }
      const { slot } = call.resumed.answer as { slot: string };
      return { orderId, slot };
    },
  }),
};

const { defineAgent } = agentsFor<typeof tools>();

export const support = defineAgent({
  name: 'support',
  description: 'Answers order questions and issues refunds.',
  instructions: 'You are a careful support agent.',
  model: 'default',
  settings: { temperature: 0, maxOutputTokens: 2000 },
  tools: ['findOrder', 'refund', 'chooseSlot'],
  maxIterations: 10,
  returnDirectly: ['chooseSlot'],
  toolAliases: { findOrder: { names: ['lookup'], arguments: { orderId: ['id', 'order_id'] } } },
  unknownTool: (name) => `There is no tool ${name}. Answer with what you know.`,
});

export const orders = defineAgent({
  name: 'orders',
  description: 'Says how an order stands.',
  instructions: 'You tell customers how their order stands.',
  model: 'default',
  tools: ['findOrder'],
  inputSchema: { type: 'object', properties: { orderId: { type: 'string' } }, required: ['orderId'], additionalProperties: false },
  prompt: (job: { orderId: string }) => `How does order ${job.orderId} stand?`,
});

export const researcher = defineAgent({
  name: 'researcher',
  description: 'Finds out what it can with few calls.',
  instructions: 'Look up what you need, then answer.',
  model: 'default',
  tools: ['findOrder'],
  maxIterations: { limit: 6, finalize: true },
  maxToolIterations: { limit: 3, finalize: 'No more look-ups. Answer from what you have, and say what is missing.' },
});

const catalogue = async (query: string, options: object): Promise<object> => ({ query, ...options });

export const begin = (client: HoldfastClient): Promise<Run> =>
  client.start('support', 'Refund order 42', {
    settings: { temperature: 0 },
    options: {
      tools: ['findOrder', 'search'],
      toolOptions: { search: { region: 'eu' } },
      agents: { support: { model: 'openai/gpt-5-mini', toolOptions: { search: { limit: 5 } } } },
    },
  });

export const search = defineTool({
  description: 'Searches the catalogue.',
  inputSchema: z.object({ query: z.string() }),
  execute: async ({ query }, call) => catalogue(query, { region: call.options['region'] ?? 'us', limit: call.options['limit'] ?? 10 }),
});

export const writer = defineAgent({
  name: 'writer',
  description: 'Writes short texts.',
  instructions: 'Write what you are asked for. When a critic named faults, mend them.',
  model: 'writer',
  tools: [],
});

export const critic = defineAgent({
  name: 'critic',
  description: 'Finds faults in texts.',
  instructions: 'Name the worst fault of the text. When it has none, call accept.',
  model: 'critic',
  tools: [
    {
      name: 'accept',
      description: 'Takes the text as it is.',
      inputSchema: { type: 'object', properties: {} },
      execute(_, ctx) {
        ctx.sendToolAction(breakLoopAction());
        return 'It is taken.';
      },
    },
  ],
});

export const polished = loop({ name: 'polished', agents: [writer, critic], maxIterations: 5 });

const specialist = <const Name extends string>(name: Name, description: string) =>
  defineAgent({ name, description, instructions: description, model: name, tools: ['findOrder'] });

export const office = supervisor({
  name: 'office',
  description: 'Answers letters.',
  supervisor: specialist('head', 'Gives work to the others, then answers the letter.'),
  agents: [specialist('clerk', 'Looks orders up.'), specialist('lawyer', 'Knows what we owe by law.')],
});

export const frontDesk = setSubAgents(specialist('desk', 'Says who is in charge.'), [
  specialist('billing', 'Answers questions about bills.'),
  specialist('travel', 'Answers questions about journeys.'),
]);

export const editor = defineAgent({
  name: 'editor',
  description: 'Puts a page together.',
  instructions: 'Have each paragraph written, then put them in order.',
  model: 'editor',
  tools: [agentTool(writer, { forwardEvents: true }), 'findOrder'],
});

export const reviewed = customAgent({
  name: 'reviewed',
  description: 'Writes a text that a person has read.',
  agents: [writer],
  async *run({ messages }, ctx) {
    const wanted = messages.map(textOf).join('\n');
    let { text } = await ctx.runAgent('writer', wanted);
    for (;;) {
      const wish = await ctx.interrupt<string>({ text, question: 'What should be different?' });
      if (wish === '') break;
      yield { name: 'wish', output: { wish } };
      ({ text } = await ctx.runAgent('writer', `${wanted}\nIt was: ${text}\n${wish}`));
    }
    yield { message: { role: 'assistant', parts: [{ type: 'text', text }] } };
  },
});

export async function ticket(orderId: string): Promise<string> {
  const answer = await runAgentAsChild<typeof orders>(
    'orders',
    { orderId },
    { id: `ticket-${orderId}`, taskQueue: 'holdfast', deadline: '7d' },
  );
  return `The customer was told: ${answer}`;
}

// approvals.md, isolated-agents.md, reference/hooks.md, reference/middleware/README.md

export const hurried: AgentMiddleware = {
  name: 'hurried',
  async beforeAgent({ instructions }, ctx) {
    const carrier = await ctx.within('1h', (soon) => soon.interrupt<string>({ question: 'Which carrier?' }));
    return { instructions: `${instructions} Ship with ${carrier ?? 'the cheapest carrier'}.` };
  },
};

export const apart = parallel({ name: 'apart', agents: [writer, critic], isolate: true });

export function quickTools(first: string): AgentMiddleware {
  const middleware: AgentMiddleware = {
    name: 'quickTools',
    beforeModelRewriteState: ({ tools }, ctx) => (ctx.iteration === 1 ? { tools: tools.filter((tool) => tool === first) } : undefined),
  };
  return withTraits(middleware, { offersTools: [], namesTools: [first] });
}

export const timekeeper: AgentMiddleware = {
  name: 'timekeeper',
  async wrapModel(request, next, ctx) {
    const before = ctx.now();
    const response = await next(request);
    ctx.sendEvent('model-took', { iteration: ctx.iteration, milliseconds: ctx.now() - before });
    return response;
  },
};

export const prepared = defineAgent({
  name: 'prepared',
  description: 'Issues refunds, also in conversations that were cut off.',
  instructions: 'You are a careful support agent.',
  model: 'default',
  tools: ['findOrder', 'refund'],
  middleware: [patchToolCalls(), approval({ tools: { refund: true } })],
});

// trying-again.md

export const polite = defineAgent({
  name: 'polite',
  description: 'Answers politely.',
  instructions: 'Be polite.',
  model: 'default',
  tools: ['findOrder'],
  retry: {
    maxRetries: 3,
    shouldRetry({ output, error, input }) {
      if (error?.code === 'model-context-exceeded') return { retry: true, modifiedInput: input.slice(-10), persistModifiedInput: true };
      if (error !== undefined) return { retry: error.retryable === true };
      if (output !== undefined && textOf(output).includes('!!')) return { retry: true, rejectReason: 'shouting' };
    },
  },
});

export const sturdy = defineAgent({
  name: 'sturdy',
  description: 'Answers with whatever model there is.',
  instructions: 'Be brief.',
  model: 'openai/gpt-5',
  tools: ['findOrder'],
  retry: { maxRetries: 1, isRetryable: (error) => error.retryable === true },
  failover: {
    maxRetries: 2,
    shouldFailover: (_output, error) => error.code !== 'model-refused',
    getFailoverModel: ({ attempt }) => ({ model: attempt === 1 ? 'anthropic/claude-sonnet-4-5' : 'google/gemini-2.5-pro' }),
  },
});

// middleware.md

const { defineMiddleware } = agentsFor<typeof tools>();

export const budget = defineMiddleware({
  name: 'budget',
  beforeAgent: ({ instructions }, ctx) => ({ instructions: `${instructions} The customer is ${String(ctx.values['customer'])}.` }),
  async afterToolCalls(_state, ctx) {
    if (ctx.usage.outputTokens < 10_000 || ctx.runLocal.get('asked') === true) return;
    ctx.runLocal.set('asked', true);
    const goOn = await ctx.interrupt<boolean>({ question: 'Spend more?' }, { deadline: '1d', onDeadline: false });
    ctx.sendEvent('budget', { goOn });
    if (!goOn) return { tools: [] };
  },
});

export const ceiling = defineMiddleware({
  name: 'ceiling',
  onlyTools: ['refund'],
  async wrapToolCall(call, next, ctx) {
    const { orderId, amount } = call.input as { orderId: string; amount: number };
    const order = await ctx.call('findOrder', { orderId });
    if (amount > order.total) return `Order ${orderId} cost ${order.total}. Nothing was paid.`;
    return next(call);
  },
});

export const classic = defineAgent({
  name: 'classic',
  description: 'Answers order questions.',
  instructions: 'You are careful.',
  model: 'default',
  tools: ['findOrder'],
  middleware: [
    { additionalInstruction: 'Orders above 500 need a person.', additionalTools: ['refund'] },
    withInstruction('Be brief.'),
    ceiling,
    eventSenderToolWrapper(),
  ],
  toolCallMiddlewares: [async (call, next) => `${JSON.stringify(await next(call))} (${call.name})`],
});

/** The first message and the newest ones, from an answer of the model on: no tool result is left without its call. */
function shortened(messages: readonly Message[], keep: number): readonly Message[] {
  const start = messages.findIndex(({ role }, position) => position >= messages.length - keep && role === 'assistant');
  return start < 2 ? messages : [...messages.slice(0, 1), ...messages.slice(start)];
}

export const forgetting = defineMiddleware({
  name: 'forgetting',
  beforeModelRewriteState: ({ messages }) => (messages.length > 40 ? { messages: shortened(messages, 20) } : undefined),
});

export const shortSighted = defineMiddleware({
  name: 'short-sighted',
  wrapModel: (request, next) => next({ ...request, messages: shortened(request.messages, 20) }),
});

export const audit = defineWorkerMiddleware('audit', (options: { topic: string }) => ({
  wrapModel: {
    looksOn: true,
    async generate(request, next, call) {
      const response = await next(request);
      await log(options.topic, { id: call.id, attempt: call.attempt, usage: response.usage });
      return response;
    },
  },
  async wrapInvokableToolCall(input, next, call) {
    await log(options.topic, { id: call.id, tool: call.tool });
    return next(input);
  },
}));

export const spending = defineMiddleware({
  name: 'spending',
  beforeModelRewriteState: (_state, ctx) => ctx.runLocal.set('spent', { ...ctx.usage }),
});

export const spent = defineWorkerMiddleware('spent', () => ({
  wrapModel: {
    looksOn: true,
    async generate(request, next, call) {
      const response = await next(request);
      await log('spent', { before: call.runLocal.get('spent'), now: response.usage });
      return response;
    },
  },
}));

export const stopwatch: Observer = {
  name: 'stopwatch',
  onEnd: (seen) => log(seen.kind, { id: seen.id, attempt: seen.attempt, took: seen.endedAt - seen.startedAt }),
  onError: (seen) => log(seen.kind, { id: seen.id, attempt: seen.attempt, error: seen.error.code }),
};

export const audited = defineAgent({
  name: 'audited',
  description: 'Finds orders, and is watched.',
  instructions: '',
  model: 'default',
  tools: ['findOrder'],
  middleware: [onWorker('audit', { topic: 'orders' })],
});

export const rules = approval<typeof tools>({
  tools: {
    findOrder: { when: ({ orderId }) => orderId.startsWith('vip-') },
    refund: { when: ({ amount }) => amount > 50, expires: '3d', onExpiry: 'reject', by: ['ada', 'bob'] },
  },
});

export const refunds = defineAgent({
  name: 'refunds',
  description: 'Issues refunds.',
  instructions: 'Find an order before you refund it.',
  model: 'default',
  tools: ['findOrder', 'refund'],
  middleware: [rules],
});

export const ping = modelCallbacks()
  .registerBefore(({ invocation }) => (invocation.userMessage === '/ping' ? { customResponse: 'pong' } : undefined))
  .asMiddleware('ping');

export const clamp = toolCallbacks()
  .registerBefore((call) => {
    const { orderId, amount } = call.arguments as { orderId: string; amount: number };
    if (call.toolName === 'refund') return { modifiedArguments: { orderId, amount: Math.min(amount, 100) } };
  })
  .asMiddleware('clamp');

// messages.md

/** The model does not see what it thought in earlier turns. */
export const forgetful = agenticMiddleware({
  name: 'forgetful',
  wrapModel: (request, next) =>
    next({
      ...request,
      messages: request.messages.map((message) => ({ ...message, blocks: message.blocks.filter(({ type }) => type !== 'reasoning') })),
    }),
});

export const concise = chatMiddleware({
  name: 'concise',
  beforeModelRewriteState: ({ messages }, ctx) =>
    ctx.iteration === 1 ? { messages: [...messages, { role: 'user', content: 'Answer in one sentence.' }] } : undefined,
});

export const recorder = defineWorkerMiddleware('recorder', () => ({
  wrapModel: {
    looksOn: true,
    async generate(request, next, call) {
      await log(call.id, messagesIn('agentic', request.messages));
      return next(request);
    },
  },
}));

// coming-from/eino.md

const roles = agentsFor<typeof tools>().defineMiddleware({
  name: 'roles',
  // A handler of Eino returns a ctx. Here it returns values.
  beforeAgent({ tools: offered }, ctx) {
    const isClerk = ctx.values['role'] === 'clerk';
    return { tools: isClerk ? offered : offered.filter((name) => name !== 'refund'), values: { isClerk } };
  },
  // `next` makes the call, through the layers inside this one.
  async wrapToolCall(call, next, ctx) {
    const output = await next(call);
    ctx.runLocal.set('used', [...((ctx.runLocal.get('used') ?? []) as string[]), call.name]);
    return output;
  },
  afterAgent: (_state, ctx) => ctx.sendEvent('used', { tools: ctx.runLocal.get('used') ?? [], byClerk: ctx.values['isClerk'] === true }),
});

export const desk = agentsFor<typeof tools>().defineAgent({
  name: 'desk',
  description: 'Answers order questions.',
  instructions: 'You are careful.',
  model: 'default',
  tools: ['findOrder', 'refund'],
  middleware: [withInstruction('Be brief.'), roles],
});

export const book = defineTool({
  description: 'Books a table.',
  inputSchema: z.object({ guests: z.number() }),
  execute({ guests }, call) {
    // The tool is entered again only after somebody has answered.
    if (call.resumed === undefined) return call.interrupt({ question: 'Inside or outside?' }, { state: { guests } });
    return `A table for ${guests}, ${String(call.resumed.answer)}.`;
  },
});

export async function ask(client: HoldfastClient, question: string): Promise<string> {
  const run = await client.start('desk', question, {
    values: { role: 'clerk' },
    settings: { temperature: 0 },
    options: { tools: ['findOrder'], toolOptions: { findOrder: { region: 'eu' } } },
  });
  for await (const event of run.events({ until: 'waiting', deltas: false })) if (event.type === 'tool-end') log('tool', event.tool);
  return String(await run.result());
}

// coming-from/trpc.md

const limits = plugin({
  name: 'limits',
  beforeModel({ invocation }) {
    if (invocation.usage.outputTokens > 10_000) throw new StopError('The budget of this run is used up.');
  },
});

const aroundModel = modelCallbacks()
  .registerBefore(({ invocation }) => (invocation.userMessage === '/ping' ? { customResponse: 'pong' } : undefined))
  .registerAfter(({ error }) => (error === undefined ? undefined : { customResponse: 'The model is away. Try again later.' }));

const aroundTools = toolCallbacks()
  .registerBefore((call) => {
    if (call.toolName === 'findOrder') call.arguments = { orderId: (call.arguments as { orderId: string }).orderId.trim() };
  })
  .registerAfter(({ error }) => (error === undefined ? undefined : { customResult: 'Not available.' }));

const aroundAgent = agentCallbacks().registerBefore(({ invocation }) =>
  invocation.userMessage === '/abort' ? { customResponse: 'aborted by callback' } : undefined,
);

export const guarded = agentsFor<typeof tools>().defineAgent({
  name: 'guarded',
  description: 'Answers questions about orders, within a budget.',
  instructions: '',
  model: 'default',
  tools: ['findOrder'],
  middleware: [callbacks({ plugins: [limits], model: aroundModel, tool: aroundTools, agent: aroundAgent })],
});

export const guardedChain = sequential({
  name: 'guarded-chain',
  agents: [guarded],
  callbacks: agentCallbacks()
    .registerBefore(({ invocation }) => (invocation.userMessage === '' ? { customResponse: 'Ask me something.' } : undefined))
    .registerAfter(({ error, invocation }) => invocation.ctx?.sendEvent('chain', { failed: error !== undefined })),
});

const orderPrint = (title: string, key: string): string => `${title} ${key}`;

export const print = defineTool({
  description: 'Prints a book. It takes days.',
  inputSchema: z.object({ title: z.string() }),
  effect: 'idempotent',
  execute({ title }, call) {
    if (call.resumed !== undefined) return { title, pages: call.resumed.answer };
    const job = orderPrint(title, call.idempotencyKey);
    return call.interrupt({ job, state: 'printing' }, { answerSchema: z.number(), deadline: '30d' });
  },
});

const timed = toolCallbacks()
  .registerBefore(({ invocation }) => invocation.state.set('start', performance.now()))
  .registerAfter(({ invocation, toolName }) => log(toolName, performance.now() - Number(invocation.state.get('start'))));

export const timing = defineWorkerMiddleware('timing', () => ({
  async wrapInvokableToolCall(input, next, { tool: toolName, callId: toolCallId }) {
    const args = { toolName, toolCallId, arguments: input };
    await timed.runBefore(args);
    const result = await next(args.arguments);
    await timed.runAfter({ ...args, result });
    return result;
  },
}));

// streaming.md

interface Piece {
  readonly text?: string;
  readonly call?: { readonly id: string; readonly name: string; readonly input: Json };
  readonly tokens?: { readonly in: number; readonly out: number };
}
const inHouse = {
  async *chat({ messages }: { name: string } & Omit<GenerateRequest, 'settings'>): AsyncGenerator<Piece> {
    yield { tokens: { in: 4, out: 0 } };
    if (messages.length === 1) yield { call: { id: 'call-1', name: 'findOrder', input: { orderId: '42' } } };
    else for (const text of ['It was paid with 1234 5678 1', '234 5678', ', and is 1', '0 days late.']) yield { text };
    yield { tokens: { in: 4, out: 9 } };
  },
};

/** Keeps the text of each model call, by the address of the call. */
export async function follow(run: Pick<Run, 'events'>, texts: Map<string, string>): Promise<void> {
  for await (const event of run.events()) {
    if (event.type === 'attempt-start' || event.type === 'attempt-void') texts.delete(event.address);
    if (event.type === 'text-delta') texts.set(event.address, (texts.get(event.address) ?? '') + event.text);
    if (event.type === 'model-end') texts.set(event.address ?? event.message.id, textOf(event.message));
  }
}

const withoutCards = (text: string): string => text.replace(/\b\d{4}( ?\d{4}){3}\b/g, '[card]');

/** Digits at the end of a chunk are held back: the number may go on in the next one. */
async function* redacted(chunks: AsyncIterable<ModelChunk>): AsyncGenerator<ModelChunk> {
  let held: Extract<ModelChunk, { type: 'text' }> | undefined;
  for await (const chunk of chunks) {
    if (held !== undefined && (chunk.type !== 'text' || chunk.block !== held.block)) {
      yield { ...held, text: withoutCards(held.text) };
      held = undefined;
    }
    if (chunk.type !== 'text') {
      yield chunk;
      continue;
    }
    const text = (held?.text ?? '') + chunk.text;
    const end = text.search(/[\d ]*$/);
    yield { ...chunk, text: withoutCards(text.slice(0, end)) };
    held = { ...chunk, text: text.slice(end) };
  }
}

export const redact = defineWorkerMiddleware('redact', () => ({
  wrapModel: { stream: (request, next) => redacted(next(request)) },
}));

async function* talk(name: string, { instructions, messages, tools, signal }: GenerateRequest): AsyncGenerator<ModelChunk> {
  for await (const { text, call, tokens } of inHouse.chat({ name, instructions, messages, tools, signal })) {
    if (text !== undefined) yield { type: 'text', text };
    if (call !== undefined) yield { type: 'part', part: { type: 'tool-call', ...call } };
    if (tokens !== undefined) yield { type: 'usage', usage: { inputTokens: tokens.in, outputTokens: tokens.out } };
  }
  yield { type: 'finish' };
}

export const inHouseModels = {
  model: (name: string): LanguageModel => ({
    stream: (request) => talk(name, request),
    generate: (request) => answerOfChunks(talk(name, request)),
  }),
};

// testing.md

const refundCall = { name: 'refund', input: { orderId: '42', amount: 80 } };

it('pays when ada approves', async () => {
  const model = scriptedModel([{ toolCalls: [refundCall] }, { text: 'Paid.' }]);
  const run = await testRun(refunds, { input: 'Refund order 42', model, tools });
  const [interrupt] = await run.interrupts();
  expect(interrupt).toMatchObject({ kind: 'approval', tool: 'refund', input: { amount: 80 } });
  await run.approve(interrupt!.id, { by: 'ada' });
  expect(await run.result()).toBe('Paid.');
  expect(model.requests[1]!.messages.at(-1)!.role).toBe('tool');
  model.assertComplete();
});

it('rejects after three days', async () => {
  const model = scriptedModel([
    { toolCalls: [refundCall], usage: { inputTokens: 90, outputTokens: 12 } },
    ({ messages }) => ({ text: JSON.stringify(messages.at(-1)).includes('rejected') ? 'Sorry.' : 'Paid.' }),
  ]);
  const run = await testRun(refunds, { input: 'Refund order 42', model, tools });
  expect((await run.outcome()).status).toBe('waiting');
  await run.advance('3d');
  expect(await run.outcome()).toEqual({ status: 'completed', output: 'Sorry.', text: 'Sorry.' });
});

it('shows the answer as it comes, and takes back what does not count', async () => {
  let shown = '';
  const run = await testRun(support, {
    input: 'Where is order 42?',
    model: scriptedModel([{ text: ['On its w'], error: 'The line is dead.', retryable: true }, { text: 'On its way.' }], { stream: true }),
    tools,
    onDelta(delta) {
      if (delta.type === 'attempt-void') shown = '';
      if (delta.type === 'text-delta') shown += delta.text;
    },
  });
  expect(await run.result()).toBe('On its way.');
  expect(shown).toBe('On its way.');
});

it('waits on over a continue-as-new', async () => {
  const model = scriptedModel([{ toolCalls: [refundCall] }, { text: 'Paid.' }]);
  const run = await testRun(refunds, { input: 'Refund order 42', model, tools });
  const [before] = await run.interrupts();
  await run.goOnAsNew();
  expect(await run.interrupts()).toEqual([before]);
  await run.reject(before!.id, 'Not this one', { by: 'bob' });
  expect((await run.outcome()).status).toBe('completed');
});

it('pays once when the worker dies after the payment', async () => {
  const run = await testRun(support, {
    input: 'Refund order 42',
    model: scriptedModel([{ toolCalls: [refundCall] }, { text: 'Paid.' }]),
    tools,
    lose: ({ tool, reconcile }) => (tool === 'refund' && !reconcile ? 'after' : undefined),
  });
  expect(await run.result()).toBe('Paid.');
  expect(await run.interrupts()).toEqual([]);
});

export const record = () => recordHistory({ id: 'ticket-981', file: 'test/histories/refund.json' });

it('would do again what it did', async () => {
  const replayed = await replayHistories({
    agents: 'examples/support/agents.ts',
    histories: 'test/replay/histories/examples/*.json',
  });
  expect(replayed.filter(({ error }) => error !== undefined)).toEqual([]);
});

it('asks its models for what it asked for', async () => {
  const [replayed] = await replayHistories({
    agents: 'test/replay/fixtures/changed-agents.ts',
    histories: 'test/replay/histories/examples/*-support-waiting.json',
    changes: 'requests',
  });
  expect(replayed?.differences.map(({ kind, address, message }) => [kind, address, message])).toEqual([
    [
      'command',
      'support/t2/refund.0/approval',
      'The history has the approval support/t2/refund.0/approval here. The code has the tool call support/t2/refund.0 instead.',
    ],
  ]);
  expect(replayed?.error?.code).toBe('frame-changed');
});

it('asks as its snapshot says', async () => {
  const [replayed] = await replayHistories({
    agents: 'examples/support/agents.ts',
    histories: 'test/replay/histories/examples/*-orders.json',
  });
  expect(replayed?.asked).toMatchSnapshot();
});

// tools.md

const thermometer = async (city: string, _signal?: AbortSignal): Promise<number> => city.length;
const placeOrder = async ({ item }: { item: string }): Promise<string> => `ordered ${item}`;

export const report = defineTool({
  description: 'Writes a report about a city.',
  inputSchema: z.object({ city: z.string() }),
  async *stream({ city }, call) {
    yield `# ${city}\n`;
    call.progress({ percent: 50 });
    yield 'It rains.';
  },
});

export const chart = defineTool({
  description: 'Draws how an order went.',
  inputSchema: z.object({ orderId: z.string() }),
  enhanced: true,
  execute: ({ orderId }) => [
    { type: 'text', text: `Order ${orderId}:` },
    { type: 'file', mediaType: 'image/png', data: { url: `https://charts.example/${orderId}.png` } },
  ],
});

export const clock = defineTool({
  description: 'Says what day it is.',
  inputSchema: z.object({}),
  execute: () => new Date().toISOString().slice(0, 10),
});

export const pickColor = defineTool({
  description: 'Lets the user pick a color in the app.',
  inputSchema: z.object({ of: z.string() }),
  external: true,
});

export const weather = tool({
  description: 'Tells the weather.',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }, { abortSignal }) => ({ city, degrees: await thermometer(city, abortSignal) }),
});
export const order = { ...tool({ inputSchema: z.object({ item: z.string() }), execute: placeOrder }), effect: 'once' as const };

export const outputs = {
  verdict: z.object({ refund: z.boolean(), reason: z.string() }),
};

const typed = agentsFor<typeof tools, typeof outputs>();

export const judge = typed.defineAgent({
  name: 'judge',
  description: 'Says whether an order is refunded.',
  instructions: 'Look the order up, then decide.',
  model: 'default',
  tools: ['findOrder'],
  output: 'verdict',
});

// What the documents say beside that.

const findCall = (input: object) => ({ name: 'findOrder', input: input as { orderId: string } });
const start = (agent: typeof support, ...steps: Parameters<typeof scriptedModel>[0]) =>
  testRun(agent, { input: 'Hi', model: scriptedModel(steps), tools });

describe('the examples do what their documents say:', () => {
  it('aliases, an unknown tool, the question of a tool as the answer of the run', async () => {
    const run = await start(
      support,
      { toolCalls: [{ name: 'lookup', input: { order_id: '42' } }] },
      { toolCalls: [{ name: 'teleport', input: {} }] },
      { toolCalls: [{ name: 'chooseSlot', input: { orderId: '42' } }] },
    );
    const [question] = await run.interrupts();
    await expect(run.resume(question!.id, 'am')).rejects.toMatchObject({ code: 'answer-invalid' });
    await run.resume(question!.id, { slot: 'am' });
    expect(await run.outcome()).toMatchObject({ output: { orderId: '42', slot: 'am' } });
    const transcript = JSON.stringify(await run.transcript());
    expect(transcript).toContain('Teapot');
    expect(transcript).toContain('There is no tool teleport.');
  });

  it('a limit asks for an answer, and says what the definition says', async () => {
    const call = { toolCalls: [findCall({ orderId: '42' })] };
    const model = scriptedModel([call, call, call, { text: 'All but one.' }]);
    const run = await testRun(researcher, { input: 'Hi', model, tools });
    expect(await run.result()).toBe('All but one.');
    expect(model.requests[3]).toMatchObject({ tools: [] });
    expect(model.requests[3]?.messages.at(-1)).toMatchObject({
      role: 'user',
      parts: [{ text: expect.stringContaining('No more look-ups.') }],
    });
  });

  it('the caller makes the calls of an external tool, and goes on', async () => {
    const painter = agentsFor<{ pickColor: typeof pickColor }>().defineAgent({
      name: 'painter',
      description: '',
      instructions: '',
      model: 'default',
      tools: ['pickColor'],
    });
    const play = (input: string | readonly Message[], ...steps: Parameters<typeof scriptedModel>[0]) =>
      testRun(painter, { input: input, model: scriptedModel(steps), tools: { pickColor } });
    const run = await play('Paint it.', { toolCalls: [{ name: 'pickColor', input: { of: 'car' } }] });
    const outcome = await run.outcome();
    if (outcome.status !== 'tool-calls-pending') throw new Error(outcome.status);
    const results = outcome.toolCalls.map(({ id: callId, name }): Message => ({
      role: 'tool',
      parts: [{ type: 'tool-result', callId, name, output: 'red' }],
    }));
    const next = await play([...(await run.transcript()), ...results], { text: 'It is red.' });
    expect(await next.result()).toBe('It is red.');
  });

  it('a once call is made once', async () => {
    const run = await testRun(support, {
      input: 'Hi',
      model: scriptedModel([{ toolCalls: [refundCall] }, { text: 'Paid.' }]),
      tools,
      lose: ({ reconcile }) => (reconcile ? undefined : 'after'),
    });
    expect(await run.result()).toBe('Paid.');
    expect([...payments.keys()]).toEqual(['default/test/support/t1/refund.0']);
  });

  it('a job makes the first message', async () => {
    const model = scriptedModel([{ text: 'Delivered.' }]);
    const run = await testRun(orders, { input: { orderId: '42' }, model, tools });
    expect(await run.result()).toBe('Delivered.');
    expect(model.requests[0]?.messages[0]?.parts).toEqual([{ type: 'text', text: 'How does order 42 stand?' }]);
  });

  it('a hook asks, and its deadline answers', async () => {
    const model = scriptedModel([
      { toolCalls: [findCall({ orderId: '42' })], usage: { inputTokens: 1, outputTokens: 10_000 } },
      { text: 'Done.' },
    ]);
    const agent = withMiddleware(budget);
    const run = await testRun(agent, { input: 'Hi', model, tools, values: { customer: 'Eve' } });
    expect(await run.interrupts()).toMatchObject([{ kind: 'question', info: { question: 'Spend more?' } }]);
    await run.advance('1d');
    expect(await run.result()).toBe('Done.');
    expect(model.requests.map(({ tools: offered }) => offered.length)).toEqual([2, 0]);
    expect(model.requests[0]?.instructions).toBe('Be careful. The customer is Eve.');
  });

  it('a wrap looks something up and answers itself', async () => {
    const run = await start(
      withMiddleware(ceiling),
      { toolCalls: [{ name: 'refund', input: { orderId: '42', amount: 81 } }] },
      { text: 'Sorry.' },
    );
    expect(await run.result()).toBe('Sorry.');
    expect(JSON.stringify(await run.transcript())).toContain('Order 42 cost 80. Nothing was paid.');
    expect(payments.size).toBe(0);
  });

  it.each([
    ['for good', forgetting],
    ['for the request', shortSighted],
  ])('messages are left out %s', async (name, middleware) => {
    const seen: number[] = [];
    const model = scriptedModel([
      ...Array.from({ length: 25 }, () => (request: { messages: readonly unknown[] }) => {
        seen.push(request.messages.length);
        return { toolCalls: [findCall({ orderId: '42' })] };
      }),
      { text: 'Done.' },
    ]);
    const agent = defineAgent({
      name: 'long',
      description: '',
      instructions: '',
      model: 'default',
      tools: ['findOrder'],
      maxIterations: 30,
      middleware: [middleware],
    });
    const run = await testRun(agent, { input: 'Hi', model, tools });
    expect(await run.result()).toBe('Done.');
    expect(Math.max(...seen)).toBe(name === 'for good' ? 39 : 21);
    expect((await run.transcript()).length).toBe(name === 'for good' ? 32 : 52);
  });

  it('tools of all kinds give their results', async () => {
    const kinds = { report, chart, clock, weather, order };
    const agent = agentsFor<typeof kinds>().defineAgent({
      name: 'kinds',
      description: '',
      instructions: '',
      model: 'default',
      tools: ['report', 'chart', 'clock', 'weather', 'order'],
    });
    const oslo = { city: 'Oslo' };
    const calls = [
      { name: 'report', input: oslo },
      { name: 'chart', input: { orderId: '42' } },
      { name: 'clock', input: {} },
      { name: 'weather', input: oslo },
      { name: 'order', input: { item: 'tea' } },
    ];
    const run = await testRun(agent, { input: 'Hi', model: scriptedModel([{ toolCalls: calls }, { text: 'Done.' }]), tools: kinds });
    expect(await run.result()).toBe('Done.');
    const results = (await run.transcript()).flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === 'tool-result' ? [part.output] : [])),
    );
    expect(results).toEqual([
      '# Oslo\nIt rains.',
      [expect.objectContaining({ type: 'text' }), expect.objectContaining({ type: 'file' })],
      expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      { city: 'Oslo', degrees: 4 },
      'ordered tea',
    ]);
  });

  it('an answer is read by its schema', async () => {
    const model = scriptedModel([{ text: 'Yes, as it broke.' }, { text: '{"refund":true,"reason":"It broke."}' }]);
    const run = await testRun(judge, { input: 'Order 42', model, tools, outputs });
    const { refund, reason }: { refund: boolean; reason: string } = await run.result();
    expect([refund, reason]).toEqual([true, 'It broke.']);
  });

  it('a classic middleware adds to an agent, and a sender shows what passes it', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'findOrder', input: { orderId: '42' } }] }, { text: 'Done.' }]);
    const run = await testRun(classic, { input: 'Hi', model, tools });
    await run.outcome();
    expect(model.requests[0]?.instructions).toBe('You are careful.\n\nOrders above 500 need a person.\n\nBe brief.');
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['findOrder', 'refund']);
    expect((await run.transcript())[2]?.parts[0]).toMatchObject({ output: '{"orderId":"42","item":"Teapot","total":80} (findOrder)' });
    for await (const event of run.events({ until: 'waiting' }))
      if (event.type === 'tool-end') expect(event.message.parts[0]).toMatchObject({ output: { total: 80 } });
  });

  it('callbacks answer, change arguments and stop', async () => {
    const pinged = await testRun(withMiddleware(ping), { input: '/ping', model: scriptedModel([]), tools });
    expect(await pinged.result()).toBe('pong');
    const calling = scriptedModel([{ toolCalls: [{ name: 'refund', input: { orderId: '42', amount: 500 } }] }, { text: 'Done.' }]);
    const clamped = await testRun(withMiddleware(clamp), { input: 'Hi', model: calling, tools });
    expect(JSON.stringify((await clamped.transcript())[2])).toContain('"paid":100');
    const aborted = await testRun(guarded, { input: '/abort', model: scriptedModel([]), tools });
    expect(await aborted.result()).toBe('aborted by callback');
    const usage = { inputTokens: 1, outputTokens: 20_000 };
    const stopped = await testRun(guarded, {
      input: 'Hi',
      model: scriptedModel([{ toolCalls: [{ name: 'findOrder', input: { orderId: ' 42 ' } }], usage }]),
      tools,
    });
    expect(await stopped.outcome()).toMatchObject({ status: 'failed', error: { code: 'stopped' } });
    expect(JSON.stringify((await stopped.transcript())[2])).toContain('"orderId":"42"');
  });

  it('callbacks by hand on the worker have a clock', async () => {
    const timedAgent = defineAgent({
      name: 'timed',
      description: '',
      instructions: '',
      model: 'default',
      tools: ['findOrder'],
      middleware: [onWorker('timing')],
    });
    const script = scriptedModel([{ toolCalls: [findCall({ orderId: '42' })] }, { text: 'Done.' }]);
    await (await testRun(timedAgent, { input: 'Hi', model: script, tools, middleware: [timing] })).result();
    expect(log).toHaveBeenCalledWith('findOrder', expect.any(Number));
  });

  it('middleware and a worker middleware in other shapes', async () => {
    const asked: (readonly Message[])[] = [];
    const call: Part = { type: 'tool-call', id: '1', name: 'findOrder', input: { orderId: '42' } };
    const thought: Part = { type: 'reasoning', text: 'Hm.' };
    const model: LanguageModel = {
      generate: async ({ messages }) => ({ parts: [thought, asked.push(messages) === 1 ? call : { type: 'text', text: 'Done.' }] }),
    };
    const agent = agentsFor<typeof tools>().defineAgent({
      name: 'shaped',
      description: '',
      instructions: '',
      model: 'default',
      tools: ['findOrder'],
      middleware: [forgetful, concise, onWorker('recorder')],
    });
    const run = await testRun(agent, { input: 'Hi', model, tools, middleware: [recorder] });
    expect(await run.result()).toBe('Done.');
    expect(asked[1]?.map(({ role, parts }) => `${role} ${parts.map(({ type }) => type).join(' ')}`)).toEqual([
      'user text',
      'user text',
      'assistant tool-call',
      'tool tool-result',
    ]);
    expect((await run.transcript())[2]?.parts).toEqual([thought, call]);
    expect(log.mock.calls[1]?.[1]).toMatchObject([{}, { role: 'user' }, {}, { blocks: [{ type: 'function-tool-result' }] }]);
  });

  it('options of one run reach model and tool', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'search', input: { query: 'teapot' } }] }, { text: 'Found.' }]);
    const start = (_name: string, input: string, options: object) =>
      testRun(support, { input, model, tools: { ...tools, search }, ...options });
    const run = await begin({ start } as unknown as HoldfastClient);
    expect(await run.result()).toBe('Found.');
    expect(model.requests[0]).toMatchObject({ model: 'openai/gpt-5-mini', settings: { temperature: 0, maxOutputTokens: 2000 } });
    expect(model.requests[1]!.messages.at(-1)).toMatchObject({ parts: [{ output: { query: 'teapot', region: 'eu', limit: 5 } }] });
  });

  it('the agent with handlers runs with options of its client', async () => {
    const model = scriptedModel([{ toolCalls: [findCall({ orderId: '42' })] }, { text: 'On its way.' }]);
    const start = (_name: string, input: string, options: object) => testRun(desk, { input, model, tools, ...options });
    expect(await ask({ start } as unknown as HoldfastClient, 'Where is 42?')).toBe('On its way.');
    expect(log).toHaveBeenCalledWith('tool', 'findOrder');
    expect(model.requests[0]!.tools.map(({ name }) => name)).toEqual(['findOrder']);
  });

  it('a stranger at the desk has no refunds, and a tool that asks goes on with its state', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'book', input: { guests: 2 } }] }, { text: 'Done.' }]);
    const options = { tools: ['book', 'refund'] };
    const run = await testRun(desk, { input: 'Hi', model, tools: { ...tools, book }, options });
    const [interrupt] = await run.interrupts();
    expect(interrupt).toMatchObject({ info: { question: 'Inside or outside?' } });
    await run.resume(interrupt!.id, 'inside');
    expect(await run.result()).toBe('Done.');
    expect(model.requests[0]!.tools.map(({ name }) => name)).toEqual(['book']);
    expect(model.requests[1]!.messages.at(-1)).toMatchObject({ parts: [{ output: 'A table for 2, inside.' }] });
  });

  it('a worker middleware knows what the run has spent, and an observer how long calls took', async () => {
    const agent = agentsFor<typeof tools>().defineAgent({
      name: 'spender',
      description: '',
      instructions: '',
      model: 'default',
      tools: ['findOrder'],
      middleware: [spending, onWorker('spent')],
    });
    const usage = { inputTokens: 3, outputTokens: 2 };
    const model = scriptedModel([
      { toolCalls: [findCall({ orderId: '42' })], usage },
      { text: 'Done.', usage },
    ]);
    await (await testRun(agent, { input: 'Hi', model, tools, middleware: [spent], observers: [stopwatch] })).result();
    const none = { inputTokens: 0, outputTokens: 0 };
    expect(log.mock.calls.filter(([topic]) => topic === 'spent')).toEqual([
      ['spent', { before: none, now: usage }],
      ['spent', { before: usage, now: usage }],
    ]);
    expect(log).toHaveBeenCalledWith('tool', { id: 'spender/t1/findOrder.0', attempt: 1, took: expect.any(Number) });
  });

  it('a half changes a stream of a model of ones own, and a reader puts it together', async () => {
    const agent = defineAgent({
      name: 'streaming',
      description: '',
      instructions: '',
      model: 'in-house/large',
      tools: ['findOrder'],
      middleware: [onWorker('redact')],
    });
    for (const stream of [true, false]) {
      const deltas: Delta[] = [];
      const play = { input: 'Hi', model: inHouseModels, tools, middleware: [redact], stream };
      const run = await testRun(agent, { ...play, onDelta: (delta) => deltas.push(delta) });
      expect(await run.result()).toBe('It was paid with [card], and is 10 days late.');
      expect(await run.usage()).toEqual({ inputTokens: 8, outputTokens: 18 });
      const said = deltas.map((delta) => (delta.type === 'text-delta' ? delta.text : '')).join('');
      expect(said).toBe(stream ? await run.result() : '');
      const texts = new Map<string, string>();
      async function* events(): AsyncGenerator<Delta | RunEvent> {
        yield* deltas;
        yield* run.events();
      }
      await follow({ events: events as never }, texts);
      expect(Object.fromEntries(texts)).toEqual({ 'streaming/t1/model': '', 'streaming/t2/model': await run.result() });
    }
  });

  it('a worker middleware sees model and tool calls', async () => {
    const run = await testRun(audited, {
      input: 'Hi',
      model: scriptedModel([{ toolCalls: [findCall({ orderId: '42' })] }, { text: 'Done.' }]),
      tools,
      middleware: [audit],
    });
    expect(await run.result()).toBe('Done.');
    expect(log.mock.calls.map(([topic, { id }]) => [topic, id])).toEqual([
      ['orders', 'audited/t1/model'],
      ['orders', 'audited/t1/findOrder.0'],
      ['orders', 'audited/t2/model'],
    ]);
  });
});

it('is mended until the critic takes it', async () => {
  const model = scriptedModel({
    writer: [{ text: 'Roses is red.' }, { text: 'Roses are red.' }],
    critic: [{ text: 'It is "are".' }, { toolCalls: [{ name: 'accept', input: {} }] }, { text: 'Good.' }],
  });
  const run = await testRun(polished, { input: 'A verse.', model });
  expect(await run.result()).toBe('Good.');
  expect(model.requests[2]!.messages.map(textOf)).toEqual(['A verse.', 'Roses is red.', 'For context: [critic] said: It is "are"..']);
  model.assertComplete();
});

describe('agents together in the documents', () => {
  const transfer = (name: string) => ({ toolCalls: [{ name: 'transfer_to_agent', input: { agent_name: name } }] });

  it('give work away and get it back, or hand over', async () => {
    const model = scriptedModel({
      head: [transfer('clerk'), transfer('lawyer'), { text: 'You get it back.' }],
      clerk: [{ toolCalls: [findCall({ orderId: '42' })] }, { text: 'It is a teapot.' }],
      lawyer: [{ text: 'We owe it.' }],
    });
    const run = await testRun(office, { input: 'My money!', model, tools });
    expect(await run.result()).toBe('You get it back.');
    model.assertComplete();
    const desk = scriptedModel({ desk: [transfer('travel')], travel: [{ text: 'By train.' }] });
    expect(await (await testRun(frontDesk, { input: 'How?', model: desk, tools })).result()).toBe('By train.');
  });

  it('are tools of others', async () => {
    const model = scriptedModel({
      editor: [{ toolCalls: [{ name: 'writer', input: { request: 'A verse.' } }] }, { text: 'Page 1: Roses are red.' }],
      writer: [{ text: 'Roses are red.' }],
    });
    const run = await testRun(editor, { input: 'A page.', model, tools });
    expect(await run.result()).toBe('Page 1: Roses are red.');
    const paths = new Set<string>();
    for await (const event of run.events()) if ('runPath' in event) paths.add(event.runPath.join('/'));
    expect([...paths]).toEqual(['editor', 'editor/writer@1']);
  });

  it('are made by hand, and go over a continue-as-new while they ask', async () => {
    const model = scriptedModel({ writer: [{ text: 'Roses is red.' }, { text: 'Roses are red.' }] });
    const run = await testRun(reviewed, { input: 'A verse.', model });
    for (const wish of ['It is "are".', '']) {
      await run.goOnAsNew();
      const [interrupt] = await run.interrupts();
      await run.resume(interrupt!.id, wish);
    }
    expect(await run.result()).toBe('Roses are red.');
    const customs: unknown[] = [];
    for await (const event of run.events()) if (event.type === 'custom') customs.push(event.data);
    expect(customs).toEqual([{ output: { wish: 'It is "are".' } }]);
    model.assertComplete();
  });
});

function withMiddleware(...middleware: (typeof budget)[]): typeof support {
  return defineAgent({
    name: 'support',
    description: '',
    instructions: 'Be careful.',
    model: 'default',
    tools: ['findOrder', 'refund'],
    middleware,
  });
}

// concepts.md, coming-from/langgraph.md, coming-from/ai-sdk.md

export const careful = defineAgent({
  name: 'careful',
  description: 'Answers order questions and issues refunds.',
  instructions: 'You are a careful support agent.',
  model: 'default',
  tools: ['findOrder', 'refund'],
  middleware: [approval({ tools: { refund: true } })],
});

export const witnessed = defineAgent({
  name: 'witnessed',
  description: 'Issues refunds that a person has seen.',
  instructions: 'You are a careful support agent.',
  model: 'default',
  tools: ['findOrder', 'refund'],
  middleware: [approval({ tools: { refund: { when: (input) => input.amount > 50, expires: '3d' } } })],
});

export const lookup = defineAgent({
  name: 'lookup',
  description: 'Finds orders.',
  instructions: 'You find orders by their number.',
  model: 'openai/gpt-5-mini',
  tools: ['findOrder'],
  maxIterations: 5,
});

describe('the first examples of concepts and of the pages for people from elsewhere', () => {
  const paying = { toolCalls: [{ name: 'refund', input: { orderId: '42', amount: 80 } }] };

  it.each([careful, witnessed])('wait for a person before they pay', async (agent) => {
    const run = await testRun(agent, { input: 'Refund order 42', model: scriptedModel([paying, { text: 'Paid.' }]), tools });
    const [interrupt] = await run.interrupts();
    expect(payments.size).toBe(0);
    await run.approve(interrupt!.id, { by: 'ada' });
    expect(await run.result()).toBe('Paid.');
    expect(payments.size).toBe(1);
  });

  it('find an order', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'findOrder', input: { orderId: '42' } }] }, { text: 'A teapot.' }]);
    expect(await (await testRun(lookup, { input: 'What is order 42?', model, tools })).result()).toBe('A teapot.');
  });
});

describe('the examples of approvals, isolated agents, hooks and built-in middleware', () => {
  it('go on without an answer after an hour, or with it', async () => {
    for (const [answer, carrier] of [
      [undefined, 'the cheapest carrier'],
      ['Swift', 'Swift'],
    ] as const) {
      const model = scriptedModel([{ text: 'Sent.' }]);
      const run = await testRun(withMiddleware(hurried), { input: 'Send it.', model, tools });
      const [interrupt] = await run.interrupts();
      if (answer === undefined) await run.advance('1h');
      else await run.resume(interrupt!.id, answer);
      expect(await run.result()).toBe('Sent.');
      expect(model.requests[0]!.instructions).toBe(`Be careful. Ship with ${carrier}.`);
      expect(await run.interrupts()).toEqual([]);
    }
  });

  it('give parallel agents runs of their own', async () => {
    const model = scriptedModel({ writer: [{ text: 'A verse.' }], critic: [{ text: 'No fault.' }] });
    const run = await testRun(apart, { id: 'order-42', input: 'A verse.', model });
    expect(await run.result()).toEqual({ writer: 'A verse.', critic: 'No fault.' });
    expect([...run.children.keys()]).toEqual(['order-42~writer', 'order-42~critic']);
  });

  it('say how long a model took', async () => {
    const run = await testRun(withMiddleware(timekeeper), { input: 'Hi', model: scriptedModel([{ text: 'Done.' }]), tools });
    expect(await run.result()).toBe('Done.');
    const customs: unknown[] = [];
    for await (const event of run.events()) if (event.type === 'custom') customs.push([event.name, event.data]);
    expect(customs).toEqual([['model-took', { iteration: 1, milliseconds: expect.any(Number) }]]);
  });

  it('show the model one tool first, and refuse a misspelt one', async () => {
    const model = scriptedModel([{ text: 'Done.' }]);
    const run = await testRun(withMiddleware(quickTools('refund')), { input: 'Hi', model, tools });
    expect(await run.result()).toBe('Done.');
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['refund']);
    expect(() => withMiddleware(quickTools('refnd'))).toThrow('Did you mean "refund"?');
  });

  it('give calls without a result one, then ask a person', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'refund', input: { orderId: '42', amount: 80 } }] }, { text: 'Paid.' }]);
    const cutOff: Message = { role: 'assistant', parts: [{ type: 'tool-call', id: 'c1', name: 'findOrder', input: { orderId: '42' } }] };
    const input = [cutOff, { role: 'user', parts: [{ type: 'text', text: 'Refund it.' }] }] as never;
    const run = await testRun(prepared, { input, model, tools });
    const [interrupt] = await run.interrupts();
    expect(model.requests[0]!.messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'user']);
    await run.approve(interrupt!.id, { by: 'ada' });
    expect(await run.result()).toBe('Paid.');
  });
});

describeExamples(documents, __filename, 2);
describeExamples(shortDocuments, __filename, 1);
