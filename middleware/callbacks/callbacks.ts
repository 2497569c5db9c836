import type { Form, Forms } from '../../contract/check';
import { checkOptions, filled, flag, form, isFunction, texts, worded } from '../../contract/check';
import { defined } from '../../contract/defined';
import type { AgentMiddleware } from '../../kernel/define/middleware';
import { agentHooks } from './agent-hooks';
import { behindToolCalls } from './behind-tool-calls';
import { modelHooks } from './model-hooks';
import type { Plugin } from './plugins';
import { chainOf, checkPlugins } from './plugins';
import type { AgentCallbacks, ModelCallbacks, ToolCallbacks } from './sets';
import { filledChains } from './stages';
import { aroundToolCall } from './tool-hooks';

export interface CallbacksOptions {
  /** Only for agents with several. */
  readonly name?: string;
  /** Run before the sets' callbacks; `afterAgent` runs after them. */
  readonly plugins?: readonly Plugin[];
  readonly model?: ModelCallbacks;
  readonly tool?: ToolCallbacks;
  readonly agent?: AgentCallbacks;
  /** Default: all tools. */
  readonly onlyTools?: readonly string[];
  /** Readers see an answer only after the callbacks. */
  readonly changesOutput?: boolean;
}

/**
 * Makes a middleware of callbacks. Later registrations have no effect.
 * @example
 * const limits = plugin({ name: 'limits', beforeModel: () => undefined });
 * const model = modelCallbacks().registerBefore(({ invocation }) =>
 *   invocation.userMessage === '/ping' ? { customResponse: 'pong' } : undefined,
 * );
 * export const around = callbacks({ plugins: [limits], model });
 */
export function callbacks(options: CallbacksOptions): AgentMiddleware {
  checkOptions('callbacks', (options as unknown) === undefined ? null : options, forms);
  const { name = 'callbacks', onlyTools, changesOutput } = options;
  const plugins = [...(options.plugins ?? [])];
  checkPlugins(plugins);
  const [model, tool, agent] = [options.model?.clone(), options.tool?.clone(), options.agent?.clone()];
  const chains = {
    name,
    before: filledChains(chainOf(plugins, 'beforeTool'), tool?.before),
    after: filledChains(chainOf(plugins, 'afterTool'), tool?.after),
    messages: tool?.hasToolResultMessages === true ? tool : undefined,
    view: tool?.hasCallbackResult === true ? tool : undefined,
  };
  const aroundTools = chains.before.length > 0 || chains.after.length > 0 || chains.messages !== undefined;
  const rewriting = plugins.filter(({ afterToolMessages }) => afterToolMessages !== undefined);
  return {
    name,
    ...defined({ onlyTools, changesOutput }),
    ...agentHooks(filledChains(chainOf(plugins, 'beforeAgent'), agent?.before), filledChains(agent?.after, chainOf(plugins, 'afterAgent'))),
    ...modelHooks(filledChains(chainOf(plugins, 'beforeModel'), model?.before), filledChains(chainOf(plugins, 'afterModel'), model?.after)),
    ...(aroundTools ? { wrapToolCall: aroundToolCall(chains) } : {}),
    ...(chains.after.length > 0 || chains.messages !== undefined || rewriting.length > 0
      ? { afterToolCalls: behindToolCalls(name, rewriting) }
      : {}),
  };
}

const setForm = (set: string): Form =>
  form(
    (value) => value === null || isFunction((value as { readonly clone?: unknown }).clone),
    `a set of callbacks, made with ${set}Callbacks`,
  );

const forms: Forms<CallbacksOptions> = {
  name: filled,
  plugins: form((value) => value === null || Array.isArray(value), 'an array of plugins, each made with plugin'),
  model: setForm('model'),
  tool: setForm('tool'),
  agent: setForm('agent'),
  onlyTools: worded(texts, 'an array of tool names'),
  changesOutput: flag,
};
