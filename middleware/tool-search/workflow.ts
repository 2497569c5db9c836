import type { Json, Message } from '../../contract/messages/messages';
import { insideOf } from '../../kernel/define/inside';
import type { AgentMiddleware, AgentState, HookContext } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';
import { resultPartsOf } from '../tool-rounds';
import type { Forms } from '../../contract/check';
import { both, checkOptions, flag, identifier, isRecord, listOf, refusing, required, someNames } from '../../contract/check';

export interface ToolSearchOptions {
  /** The worker's `toolSearchTool` needs the same tools. */
  readonly tools: readonly string[];
  /** Defers the tools to the model's own search. Default: false. */
  readonly modelSearch?: boolean;
}

const tool = 'tool_search';
const mark = 'toolSearch';

/**
 * Hides tools until the model has found them by `tool_search`. Hidden tools can be called.
 * @example
 * export const office = defineAgent({
 *   name: 'office',
 *   description: 'Does what there is to do in an office.',
 *   instructions: 'You help in the office.',
 *   model: 'default',
 *   tools: [],
 *   middleware: [toolSearch({ tools: ['findOrder', 'refund'] })],
 * });
 */
export function toolSearch(options: ToolSearchOptions): AgentMiddleware {
  const { tools: dynamic, modelSearch = false } = checkOptions<ToolSearchOptions>('toolSearch', options, forms);
  if (dynamic.includes(tool)) refusing('toolSearch')(`tools has "${tool}", by which the model searches; leave it out.`);
  const middleware: AgentMiddleware = {
    name: 'toolSearch',
    onlyTools: [tool],
    beforeAgent: ({ tools }) => ({ tools: [...new Set([...tools, tool, ...dynamic])] }),
    beforeModelRewriteState: (state, ctx) => ({
      ...(modelSearch ? deferring(state, dynamic) : offering(state, dynamic, ctx)),
      ...reminded(state, dynamic),
    }),
    wrapToolCall(call, next, ctx) {
      // A search by words needs no schema.
      const specs = insideOf(ctx)
        .specsOf(dynamic)
        .map(({ name, description, inputSchema }) => ({ name, description, inputSchema: modelSearch ? inputSchema : {} }));
      const search = { tools: dynamic, ...(modelSearch ? { whole: true } : {}), ...(specs.length === 0 ? {} : { specs }) };
      return next({ ...call, options: { ...call.options, ...search } });
    },
    ...(modelSearch ? { afterToolCalls: ({ messages }: AgentState, ctx: HookContext) => marked(messages, ctx) } : {}),
  };
  return withTraits(middleware, { offersTools: [tool, ...dynamic], namesTools: dynamic });
}

function offering({ tools, messages }: AgentState, dynamic: readonly string[], ctx: HookContext): Partial<AgentState> {
  const found = foundIn(messages, ctx).filter((name) => dynamic.includes(name));
  const offered = [...new Set([...tools.filter((name) => !dynamic.includes(name)), ...found])];
  return sameList(offered, tools) ? {} : { tools: offered };
}

function deferring({ tools, deferred }: AgentState, dynamic: readonly string[]): Partial<AgentState> {
  if (tools.length === 0) return {};
  const offered = tools.filter((name) => name !== tool && !dynamic.includes(name));
  return {
    ...(sameList(offered, tools) ? {} : { tools: offered }),
    ...(deferred === undefined ? { deferred: { tools: dynamic, search: tool } } : {}),
  };
}

function sameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((item, position) => item === other[position]);
}

function foundIn(messages: readonly Message[], ctx: HookContext): readonly string[] {
  const results = messages.flatMap(resultPartsOf).filter(({ name }) => ctx.nameOfTool(name) === tool);
  return results.flatMap(({ output }) => namesIn(output));
}

function namesIn(output: Json): readonly string[] {
  const result = typeof output === 'string' ? parsed(output) : output;
  const selected = isRecord(result) ? result['selectedTools'] : undefined;
  return Array.isArray(selected) ? selected.filter((name): name is string => typeof name === 'string') : [];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function reminded({ messages }: AgentState, dynamic: readonly string[]): Partial<AgentState> {
  if (messages.some(({ extra }) => extra?.[mark] === true)) return {};
  const first = messages.findIndex(({ role }) => role !== 'system');
  const at = first < 0 ? messages.length : first;
  const text = ['<available-deferred-tools>', ...dynamic, '</available-deferred-tools>'].join('\n');
  const reminder: Message = { role: 'user', parts: [{ type: 'text', text }], extra: { [mark]: true } };
  return { messages: [...messages.slice(0, at), reminder, ...messages.slice(at)] };
}

function marked(messages: readonly Message[], ctx: HookContext): Partial<AgentState> | undefined {
  const isUnmarked = (part: Message['parts'][number]): boolean =>
    part.type === 'tool-result' &&
    ctx.nameOfTool(part.name) === tool &&
    part.search !== true &&
    part.isError !== true &&
    Array.isArray(part.output);
  if (!messages.some(({ parts }) => parts.some(isUnmarked))) return undefined;
  return {
    messages: messages.map((message) =>
      message.parts.some(isUnmarked)
        ? { ...message, parts: message.parts.map((part) => (isUnmarked(part) ? { ...part, search: true } : part) as typeof part) }
        : message,
    ),
  };
}

const forms: Forms<ToolSearchOptions> = {
  tools: required(both(someNames, listOf(identifier, 'an array of names of tools'))),
  modelSearch: flag,
};
