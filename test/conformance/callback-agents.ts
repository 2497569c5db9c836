import type { Invocation } from '../../middleware/callbacks/index';
import type { Json, Message } from '../../workflows/index';
import { StopError, agentsFor, loop, parallel, sequential, textOf } from '../../workflows/index';
import { agentCallbacks, callbacks, modelCallbacks, toolCallbacks, toolStateKey } from '../../middleware/callbacks/index';
import { approval } from '../../middleware/index';
import type { AgentMiddleware } from '../../workflows/index';

const { defineAgent } = agentsFor();

interface CallbackSet {
  asMiddleware(): AgentMiddleware;
}

interface Special {
  readonly tools?: readonly string[];
  readonly maxIterations?: number;
  readonly toolErrors?: 'return' | 'fail';
  readonly toolArguments?: (name: string, input: Json) => Json;
  readonly sequentialTools?: boolean;
}

const under = (name: string, layers: readonly (AgentMiddleware | CallbackSet)[], special: Special = {}) =>
  defineAgent({
    name,
    description: 'Under test.',
    instructions: 'Be a test.',
    model: 'test/model',
    tools: ['echo', 'fail'],
    middleware: layers.map((layer) => ('asMiddleware' in layer ? layer.asMiddleware() : layer)),
    ...special,
  });

export const note = ({ ctx }: Invocation, data: Json): void => ctx?.sendEvent('note', data);
export const fails = (message: string) => (): never => {
  throw new Error(message);
};
const panics = (): never => {
  throw 'odd';
};
const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const callingEcho: Message = {
  role: 'assistant',
  parts: [{ type: 'tool-call', id: '0', name: 'echo', input: { text: 'echo' } }],
};

export const pongs = under('pongs', [
  modelCallbacks()
    .registerBefore(() => ({ customResponse: 'pong' }))
    .registerAfter(({ response, invocation }) => note(invocation, response === undefined ? null : textOf(response.message))),
]);

export const callsInPlaceOfModel = under('callsInPlaceOfModel', [
  modelCallbacks().registerBefore(({ request }) =>
    request.messages.length === 1 ? { customResponse: { message: callingEcho } } : undefined,
  ),
]);

export const failsBeforeModel = under('failsBeforeModel', [modelCallbacks().registerBefore(fails('before error'))]);
export const failsAfterModel = under('failsAfterModel', [modelCallbacks().registerAfter(fails('after error'))]);

export const overridesModel = under('overridesModel', [
  modelCallbacks().registerAfter(({ response, request }) =>
    request.messages.length === 1 ? { customResponse: { ...response, message: callingEcho } } : { customResponse: 'after-override' },
  ),
]);

export const callsForEver = under('callsForEver', [modelCallbacks().registerBefore(() => ({ customResponse: { message: callingEcho } }))], {
  maxIterations: 1,
});

export const wantsAnotherModel = under('wantsAnotherModel', [
  modelCallbacks().registerBefore(({ request }) => void ((request as { model: string }).model = 'test/other')),
]);

export const keepsInvocation = under('keepsInvocation', [
  modelCallbacks()
    .registerBefore(() => ({ values: {} }))
    .registerBefore(({ invocation }) => note(invocation, [invocation.agent, invocation.userMessage])),
]);

export const assignsArguments = under('assignsArguments', [
  toolCallbacks()
    .registerBefore((call) => void (call.arguments = { text: 'assigned' }))
    .registerBefore((call) => note(call.invocation, call.arguments)),
]);

const extending = (name: string) =>
  toolCallbacks()
    .registerBefore(({ invocation }) => note(invocation, name))
    .registerToolResultMessages(() => user(name));
export const extended = under('extended', [extending('user').append(extending('extension'))]);

export const followsUp = under('followsUp', [toolCallbacks().registerToolResultMessages(() => user('Look at this.'))]);
export const shapesAndFollowsUp = under('shapesAndFollowsUp', [
  toolCallbacks().registerToolResultMessages(() => [{ role: 'tool', parts: [{ type: 'text', text: 'shaped' }] }, user('Look at this.')]),
]);
export const failsShaping = under('failsShaping', [toolCallbacks().registerToolResultMessages(fails('odd'))]);
export const panicsShaping = under('panicsShaping', [toolCallbacks().registerToolResultMessages(panics)]);

function repaired(input: Json): Json {
  if (typeof input !== 'string') return input;
  return JSON.parse(input.replace(/([{,]\s*)([A-Za-z_]\w*)\s*:/g, '$1"$2":')) as Json;
}

export const repairsArguments = under('repairsArguments', [], { tools: ['add'], toolArguments: (_, input) => repaired(input) });
export const repairsNothing = under('repairsNothing', [], { tools: ['add'] });

export const forgives = under('forgives', [
  toolCallbacks().registerAfter(({ error }) => (error === undefined ? undefined : { customResult: 'forgiven' })),
]);

export const forgivesStops = under('forgivesStops', [toolCallbacks().registerAfter(() => ({ customResult: 'custom' }))], {
  tools: ['stops'],
});

export const asksAboutRewritten = under('asksAboutRewritten', [
  toolCallbacks().registerBefore(() => ({ modifiedArguments: { text: 'rewritten' } })),
  approval({ tools: { echo: true } }),
]);

const everything = toolCallbacks()
  .registerBefore(({ invocation }) => (invocation.state.set('called', true), note(invocation, 'before')))
  .registerAfter(({ invocation }) => (note(invocation, 'after'), { skipSummarization: true }))
  .registerToolResultMessages(({ invocation }) => (note(invocation, 'messages'), user('Look at this.')));
const tellsState = agentCallbacks().registerAfter(({ invocation }) => note(invocation, ['state', invocation.state.get('called') ?? null]));

export const deniesBeforeCallbacks = under('deniesBeforeCallbacks', [
  approval({ tools: { echo: true } }),
  callbacks({ tool: everything, agent: tellsState }),
]);
export const deniesBehindCallbacks = under('deniesBehindCallbacks', [
  callbacks({ tool: everything, agent: tellsState }),
  approval({ tools: { echo: true } }),
]);

export const checksThenPolicy = under('checksThenPolicy', [
  approval({ name: 'check', tools: { echo: true } }),
  {
    name: 'policy',
    wrapToolCall: (call, next, ctx) => (ctx.sendEvent('note', 'policy'), next(call)),
  },
]);

export const countsCallbacks = under(
  'countsCallbacks',
  [
    toolCallbacks()
      .registerBefore(({ invocation }) => note(invocation, 'before'))
      .registerAfter(({ invocation }) => note(invocation, 'after')),
  ],
  { tools: ['flaky'] },
);

const stopTools = ['echo', 'pays', 'asks', 'stops'];

export const stopped = under('stopped', [], { tools: stopTools });
export const stoppedInTurn = under('stoppedInTurn', [], { tools: stopTools, sequentialTools: true });

export const stopsBeforeTool = under(
  'stopsBeforeTool',
  [
    {
      name: 'late',
      afterFailure: async (_, __, ctx) => void (await ctx.call('echo', { text: 'too late' })),
    },
    toolCallbacks().registerBefore(({ toolName }) => {
      if (toolName === 'fail') throw new StopError('stop here');
    }),
  ],
  { tools: ['echo', 'fail', 'asks'] },
);

export const skipsOne = under('skipsOne', [
  toolCallbacks()
    .registerBefore((call) => ({ modifiedArguments: { text: `${(call.arguments as { text: string }).text}!` } }))
    .registerAfter(({ result }) => ({ skipSummarization: result === 'a!' })),
]);

export const skipsSummary = under('skipsSummary', [toolCallbacks().registerAfter(() => ({ skipSummarization: true }))]);

export const sharesState = under('sharesState', [
  callbacks({
    tool: toolCallbacks()
      .registerBefore((call) => {
        const { state } = call.invocation;
        state.set('calls', [...((state.get('calls') ?? []) as readonly Json[]), call.arguments]);
        state.set(toolStateKey(call, 'said'), call.arguments);
      })
      .registerAfter((call) => note(call.invocation, [call.toolCallId, call.invocation.state.get(toolStateKey(call, 'said')) ?? null])),
    agent: agentCallbacks().registerAfter(({ invocation }) => note(invocation, invocation.state.get('calls') ?? null)),
  }),
]);

export const decidesByText = under(
  'decidesByText',
  [
    toolCallbacks()
      .registerBefore(({ arguments: input }) => {
        const { text } = input as { text: string };
        if (text === 'fail') throw new Error('no');
        return text === 'answer' ? { customResult: 'custom' } : undefined;
      })
      .registerAfter(({ arguments: input }) =>
        (input as { text: string }).text === 'replace' ? { customResult: 'overridden' } : undefined,
      ),
  ],
  { toolErrors: 'fail' },
);

export const waitsAroundTool = under('waitsAroundTool', [
  {
    name: 'waiting',
    async wrapToolCall(call, next, ctx) {
      await ctx.interrupt('before');
      ctx.sendEvent('note', 'runs');
      const result = await next(call);
      await ctx.interrupt('after');
      return result;
    },
  },
]);

export const abortsAgent = under('abortsAgent', [
  agentCallbacks()
    .registerBefore(() => ({ customResponse: 'aborted by callback' }))
    .registerAfter(({ invocation }) => note(invocation, 'never')),
]);

const failsBefore = agentCallbacks().registerBefore(fails('no'));
export const failsBeforeAgent = under('failsBeforeAgent', [failsBefore]);
const inside = [under('insideOfGroup', [])];
export const failsBeforeSequence = sequential({ name: 'failsBeforeSequence', agents: inside, callbacks: failsBefore });
export const failsBeforeParallel = parallel({ name: 'failsBeforeParallel', agents: inside, callbacks: failsBefore });
export const failsBeforeLoop = loop({ name: 'failsBeforeLoop', agents: inside, maxIterations: 2, callbacks: failsBefore });
const around = agentCallbacks()
  .registerBefore(async ({ invocation }) => ({ values: { answer: await invocation.ctx!.interrupt<Json>('Begin?') } }))
  .registerAfter(async ({ invocation, values }) => ({
    customResponse: `${String(values['answer'])}, ${await invocation.ctx!.interrupt<string>('Else?')}.`,
  }));
export const asksAroundSequence = sequential({ name: 'asksAroundSequence', agents: inside, callbacks: around });

const notesResponse = ({ response, invocation }: { readonly response?: Message; readonly invocation: Invocation }): void =>
  note(invocation, response === undefined ? null : { id: response.id ?? null, text: textOf(response) });
export const seesResponseTwice = under('seesResponseTwice', [agentCallbacks().registerAfter(notesResponse).registerAfter(notesResponse)]);

export const seesFailures = under('seesFailures', [
  agentCallbacks().registerAfter(({ error, invocation }) => note(invocation, error?.message ?? null)),
]);
