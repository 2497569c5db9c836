import type { AgentMiddleware } from '../../workflows/index';
import { agentsFor, parallel } from '../../workflows/index';
import {
  agentsMd,
  approval,
  budget,
  contextEditing,
  dynamicPrompt,
  filesystem,
  modelCallLimit,
  modelFallback,
  modelRetry,
  patchToolCalls,
  pii,
  planTask,
  reduction,
  responseCache,
  skill,
  summarization,
  todo,
  todosOf,
  toolCallLimit,
  toolRetry,
  toolSearch,
  toolSelector,
} from '../../middleware/index';
import type { rowTools } from './middleware-tools';

const { defineAgent } = agentsFor<typeof rowTools>();

const agentWith = <const Name extends string>(name: Name, ...middleware: readonly AgentMiddleware[]) =>
  defineAgent({
    name,
    description: 'Has a built-in middleware.',
    instructions: 'You are a test.',
    model: `test/${name}`,
    tools: ['echo', 'flaky', 'contact'],
    middleware,
  });

const soon = { first: '10ms' };

export const modelCallLimited = agentWith('modelCallLimit', modelCallLimit({ perRun: 3 }));
export const toolCallLimited = agentWith('toolCallLimit', toolCallLimit({ tools: ['echo'], perRun: 2 }));
export const budgeted = agentWith('budget', budget({ tokens: 2000, whenSpent: 'ask' }));
export const cheaper = agentWith(
  'budgetCheaper',
  budget({
    money: 1,
    prices: { 'test/budgetCheaper': { input: 500, output: 500 }, '*': { input: 1, output: 1 } },
    whenSpent: { model: 'test/budgetCheaper-small', more: { money: 1 } },
  }),
);
export const redacted = agentWith('pii', pii({ email: 'redact', creditCard: 'mask', ip: 'hash' }));
export const retried = agentWith('modelRetry', modelRetry({ backoff: soon }));
export const givesUp = agentWith(
  'modelRetryGivesUp',
  modelRetry({ attempts: 2, backoff: soon, whenExhausted: { answer: 'Try again later.' } }),
);
export const fallingBack = agentWith('modelFallback', modelFallback({ models: ['test/modelFallback-second'] }));
export const toolRetried = agentWith('toolRetry', toolRetry({ backoff: soon }));
export const selected = agentWith('toolSelector', toolSelector({ model: 'test/toolSelector-chooser', maxTools: 2 }));
export const cached = agentWith('responseCache', responseCache());

const forgetful: AgentMiddleware = {
  name: 'forgetful',
  beforeModelRewriteState: ({ messages }, ctx) =>
    ctx.iteration === 3 ? { messages: messages.filter(({ extra }) => extra?.['agentsMd'] !== true) } : undefined,
};
const showing: AgentMiddleware = { name: 'showing', afterAgent: (_, ctx) => ctx.sendEvent('todos', [...todosOf(ctx)] as never) };

export const instructed = agentWith('agentsMd', forgetful, agentsMd({ files: ['/AGENTS.md'] }));
export const filing = agentWith('filesystem', filesystem({ shell: true }));
export const searching = agentWith('toolSearch', toolSearch({ tools: ['contact', 'flaky'] }));
export const planning = agentWith('planTask', planTask());
export const planningInFiles = agentWith('planTaskInFiles', planTask({ keptIn: 'worker' }));
export const listing = agentWith('todo', showing, todo());
export const skilled = agentWith('skill', skill({ models: { strong: 'test/skill-strong' } }));
export const approved = agentWith('approval', approval<typeof rowTools>({ tools: { contact: true } }));
export const waiting = agentWith('approvalWaiting', approval<typeof rowTools>({ tools: { contact: true } }));
export const patched = agentWith('patchToolCalls', patchToolCalls());
export const edited = agentWith('contextEditing', contextEditing({ triggerTokens: 1, keep: 1 }));
export const reduced = agentWith('reduction', reduction({ maxLengthForTrunc: 100, maxTokensForClear: 1 }));
export const summarized = agentWith('summarization', summarization({ model: 'test/summarization-summary', trigger: { messages: 4 } }));
export const prompted = agentWith(
  'dynamicPrompt',
  dynamicPrompt((_, ctx) => `Turn ${ctx.iteration}.`),
);

const asking: AgentMiddleware = {
  name: 'asking',
  beforeModelRewriteState: async (_, ctx) => ctx.sendEvent('answer', await ctx.interrupt<string>('Go on?')),
};

const desk = (name: string, ...middleware: readonly AgentMiddleware[]) =>
  defineAgent({ ...{ name, description: 'A desk.', instructions: '', model: `test/${name}` }, tools: ['echo', 'file'], middleware });

export const desks = parallel({
  name: 'desks',
  isolate: true,
  agents: [desk('deskAsks', asking), desk('deskThinks'), desk('deskFiles')],
});
