import type { Json, Message } from '../../workflows/index';
import type { Plugin } from '../../middleware/callbacks/index';
import { agentsFor } from '../../workflows/index';
import { callbacks, modelCallbacks, plugin, toolCallbacks } from '../../middleware/callbacks/index';
import { fails, note } from './callback-agents';

/** A callback of an agent that must not run would note `own`. */
const { defineAgent } = agentsFor();

type Options = Parameters<typeof callbacks>[0];

const under = (name: string, options: Options) =>
  defineAgent({
    name,
    description: 'Under test.',
    instructions: 'Be a test.',
    model: 'test/model',
    tools: ['echo', 'fail'],
    middleware: [callbacks(options)],
  });

const one = (hooks: Omit<Plugin, 'name'>): readonly Plugin[] => [plugin({ name: 'p', ...hooks })];
const own = {
  model: modelCallbacks()
    .registerBefore(({ invocation }) => note(invocation, 'own'))
    .registerAfter(({ invocation }) => note(invocation, 'own')),
  tool: toolCallbacks()
    .registerBefore(({ invocation }) => note(invocation, 'own'))
    .registerAfter(({ invocation }) => note(invocation, 'own')),
};

export const closed = under('closed', { plugins: one({ beforeAgent: () => ({ customResponse: 'Closed.' }) }) });
export const appends = under('appends', { plugins: one({ afterAgent: () => ({ customResponse: 'Appended.' }) }) });
export const failsLate = under('failsLate', { plugins: one({ afterAgent: fails('late') }) });
export const watchesFailures = under('watchesFailures', {
  plugins: one({ afterAgent: ({ error, invocation }) => note(invocation, error?.message ?? null) }),
});

const noted = (name: string, customResponse?: string): Plugin =>
  plugin({
    name,
    beforeModel: ({ invocation }) => (note(invocation, name), customResponse === undefined ? undefined : { customResponse }),
  });
export const inOrder = under('inOrder', { plugins: [noted('p1'), noted('p2')] });
export const firstAnswers = under('firstAnswers', { plugins: [noted('p1', 'Mine.'), noted('p2')] });

const failing = (place: Exclude<keyof Plugin, 'name'>) =>
  under(`${place}Fails`, { plugins: [plugin({ name: 'the-plugin', [place]: fails('odd') })] });
export const beforeAgentFails = failing('beforeAgent');
export const afterAgentFails = failing('afterAgent');
export const beforeModelFails = failing('beforeModel');
export const afterModelFails = failing('afterModel');
export const beforeToolFails = failing('beforeTool');
export const afterToolFails = failing('afterTool');
export const afterToolMessagesFails = failing('afterToolMessages');

export const replacesMessages = under('replacesMessages', {
  plugins: one({ afterToolMessages: ({ values }) => values['messages'] as unknown as readonly Message[] }),
});

export const answersBeforeModel = under('answersBeforeModel', {
  plugins: one({ beforeModel: () => ({ customResponse: 'Mine.' }) }),
  model: modelCallbacks().registerBefore(({ invocation }) => note(invocation, 'own')),
});
export const refusesModel = under('refusesModel', { plugins: one({ beforeModel: fails('no') }), model: own.model });
export const answersAfterModel = under('answersAfterModel', {
  plugins: one({ afterModel: () => ({ customResponse: 'Mine.' }) }),
  model: modelCallbacks().registerAfter(({ invocation }) => note(invocation, 'own')),
});
export const handsOnAfterModel = under('handsOnAfterModel', {
  plugins: one({ afterModel: () => ({ values: { key: 'from the plugin' } }) }),
  model: modelCallbacks().registerAfter(({ invocation, values }) => note(invocation, values['key'] ?? null)),
});

export const answersBeforeTool = under('answersBeforeTool', {
  plugins: one({ beforeTool: () => ({ customResult: 'mine' }) }),
  tool: own.tool,
});
export const refusesTool = under('refusesTool', { plugins: one({ beforeTool: fails('no') }), tool: own.tool });

const afterTool = toolCallbacks().registerAfter(({ invocation }) => note(invocation, 'own'));
const mine: Json = { mine: true };
export const answersAfterTool = under('answersAfterTool', {
  plugins: one({ afterTool: () => ({ customResult: mine }) }),
  tool: afterTool,
});
export const looksBeforeTool = under('looksBeforeTool', { plugins: one({ beforeTool: () => undefined }), tool: afterTool });
export const looksAfterTool = under('looksAfterTool', { plugins: one({ afterTool: () => undefined }), tool: afterTool });

export const failsInPlugin = under('failsInPlugin', { plugins: one({ beforeAgent: fails('no') }) });
