import type { AgentMiddleware, Message } from '../../workflows/index';
import type { SummarizationOptions } from '../../middleware/index';
import { agentsFor, deepAgent, planExecute } from '../../workflows/index';
import {
  agentsMd,
  chainFinalizers,
  contextTokens,
  estimateTokens,
  filesystem,
  patchToolCalls,
  planTask,
  preserveSkills,
  reduction,
  skill,
  summarization,
  toolSearch,
} from '../../middleware/index';

const { defineAgent } = agentsFor();

const base = { description: 'Under test.', instructions: 'Be a test.', model: 'test/model' };
const agentWith = <const Name extends string>(name: Name, tools: readonly string[], ...middleware: readonly AgentMiddleware[]) =>
  defineAgent({ ...base, name, tools, middleware });
const said = (role: 'user' | 'system', text: string): Message => ({ role, parts: [{ type: 'text', text }] });

export const planning = defineAgent({ ...base, name: 'planning', tools: [], middleware: [planTask()], maxIterations: 50 });

export const planningInFiles = defineAgent({
  ...base,
  name: 'planningInFiles',
  tools: [],
  middleware: [planTask({ keptIn: 'worker' })],
  maxIterations: 50,
});

export const searching = agentWith('searching', ['echo'], toolSearch({ tools: ['add', 'optioned'] }));
export const searchingByItself = agentWith('searchingByItself', ['echo'], toolSearch({ tools: ['add', 'optioned'], modelSearch: true }));

const helper = defineAgent({ ...base, name: 'helper', instructions: 'Be a helper.', tools: ['echo'] });
export const skilled = agentWith('skilled', ['echo'], skill({ models: { strong: 'test/strong' }, agents: { default: helper } }));

const forgetful: AgentMiddleware = {
  name: 'forgetful',
  beforeModelRewriteState: ({ messages }, ctx) =>
    ctx.iteration === 3 ? { messages: messages.filter(({ extra }) => extra === undefined) } : undefined,
};
export const instructedByFiles = agentWith(
  'instructedByFiles',
  ['echo'],
  forgetful,
  agentsMd({ files: ['/AGENTS.md', '/b.md', '/gone.md'] }),
);

export const patching = agentWith('patching', ['echo'], patchToolCalls());
export const patchingByFunction = agentWith(
  'patchingByFunction',
  ['echo'],
  patchToolCalls({ content: async (tool, id) => `${tool} ${id} never ended.` }),
);

export const cutting = agentWith(
  'cutting',
  ['echo', 'streams', 'pieces', 'optioned'],
  reduction({ maxLengthForTrunc: 10, skipClear: true, truncExcludeTools: ['optioned'] }),
);

const clears = { skipTruncation: true, maxTokensForClear: 20 };
export const clearing = agentWith('clearing', ['echo'], reduction(clears));
export const storing = agentWith('storing', ['echo'], reduction({ ...clears, offloadCleared: true }));
export const clearingMuch = agentWith('clearingMuch', ['echo'], reduction({ ...clears, clearAtLeastTokens: 1000 }));
export const clearingSome = agentWith('clearingSome', ['echo'], reduction({ ...clears, clearExcludeTools: ['echo'] }));
export const rewriting = agentWith(
  'rewriting',
  ['echo'],
  reduction({
    ...clears,
    clearExcludeTools: ['add'],
    clearMessageRewriter: ({ calls, results }) => [said('user', `Asked ${calls.map(({ id }) => id).join()}: ${results.join()}`)],
  }),
);

const summing = <const Name extends string>(name: Name, options: Partial<SummarizationOptions> = {}) =>
  agentWith(name, ['echo'], summarization({ model: 'test/sum', trigger: { messages: 2 }, ...options }));
const atOnce = { backoff: () => 0 };

export const summarized = summing('summarized');
export const summarizedWithRetry = summing('summarizedWithRetry', { retry: atOnce, emitEvents: true });
export const summarizedByOthers = summing('summarizedByOthers', {
  failover: {
    maxRetries: 2,
    getFailoverModel: ({ attempt, lastError }) =>
      attempt === 1 ? { model: 'test/second' } : { model: 'test/third', messages: [said('user', `After ${lastError.code}.`)] },
  },
});
export const summarizedAgain = summing('summarizedAgain', { failover: {} });
export const finished = summing('finished', {
  finalize: chainFinalizers(
    ({ summary }) => [said('system', 'You go on.'), summary],
    ({ result }) => [...result, said('user', 'one')],
    ({ result }) => [...result, said('user', 'two')],
  ),
});
export const keepingSkills = agentWith(
  'keepingSkills',
  [],
  summarization({ model: 'test/sum', trigger: { messages: 2 }, finalize: chainFinalizers(preserveSkills()) }),
  skill(),
);

export const counting = agentWith('counting', ['echo'], {
  name: 'counting',
  beforeModelRewriteState: (state, ctx) =>
    ctx.sendEvent('note', {
      tokens: contextTokens(state, ctx),
      reported: ctx.lastAnswer?.tokens ?? null,
      newest: estimateTokens(state.messages.slice(-1)),
    }),
});

const onlyExecute = { ls: { disable: true }, read_file: { disable: true }, write_file: { disable: true } };
const noSearch = { edit_file: { disable: true }, glob: { disable: true }, grep: { disable: true } };
export const commanding = agentWith('commanding', [], filesystem({ shell: true, tools: { ...onlyExecute, ...noSearch } }));
export const largely = agentWith('largely', ['echo', 'pieces'], filesystem({ largeResults: true, tools: { ...onlyExecute, ...noSearch } }));

const showsShared: AgentMiddleware = {
  name: 'shows-shared',
  afterAgent: (_, ctx) => ctx.sendEvent('note', ctx.session.get('shared') ?? null),
};
const setsShared: AgentMiddleware = { name: 'sets-shared', beforeAgent: (_, ctx) => ctx.session.set('shared', 'yes') };
const asking: AgentMiddleware = {
  name: 'asking',
  beforeAgent: async (_, ctx) => ctx.sendEvent('note', await ctx.interrupt<string>('May I?')),
};

const below = defineAgent({ ...base, name: 'below', instructions: 'You are the below.', tools: [], middleware: [asking, showsShared] });
export const deep = deepAgent({
  ...{ name: 'deepOne', description: 'Works long.', model: 'test/model' },
  subAgents: [below],
  middleware: [setsShared],
  forwardEvents: true,
});

const executor = defineAgent({ ...base, name: 'executor', instructions: 'You are the executor.', tools: [], middleware: [asking] });
export const planned = planExecute({
  ...{ name: 'work', description: 'Plans and does.' },
  planner: { model: 'test/model' },
  executor,
  replanner: { model: 'test/model' },
});
