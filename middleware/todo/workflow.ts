import type { Language } from '../../contract/manifest';
import type { Json } from '../../contract/messages/messages';
import type { AgentMiddleware, HookContext } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';
import { checkOptions, identifier, oneOf, text } from '../../contract/check';
import { objectSchema } from '../object-schema';

export interface Todo {
  readonly content: string;
  /** Such as "Writing the tests". */
  readonly activeForm?: string;
  readonly status: 'pending' | 'in_progress' | 'completed';
}

export interface TodoOptions {
  /** Default: `write_todos`. */
  readonly toolName?: string;
  readonly description?: string;
  /** Added to the instructions. Default: when to keep a list. */
  readonly systemPrompt?: string;
  /** `session` (default): one list for all agents of the run. `runLocal`: one for this agent. */
  readonly keptIn?: 'session' | 'runLocal';
}

const key = 'deep_agent_session_key_todos';

/**
 * A to-do list, kept in the run.
 * @example
 * export const stepwise = defineAgent({
 *   name: 'stepwise',
 *   description: 'Does work of several steps.',
 *   instructions: 'You work step by step.',
 *   model: 'default',
 *   tools: [],
 *   middleware: [todo()],
 * });
 */
export function todo(options: TodoOptions = {}): AgentMiddleware {
  const {
    toolName = 'write_todos',
    description = ours,
    systemPrompt,
    keptIn = 'session',
  } = checkOptions<TodoOptions>('todo', options, {
    toolName: identifier,
    description: text,
    systemPrompt: text,
    keptIn: oneOf('session', 'runLocal'),
  });
  const middleware: AgentMiddleware = {
    name: 'todo',
    beforeAgent({ instructions }, ctx) {
      const prompt = systemPrompt ?? prompts[ctx.language](toolName);
      return prompt === '' ? undefined : { instructions: [instructions, prompt].filter((text) => text !== '').join('\n\n') };
    },
    tools: [
      {
        name: toolName,
        description,
        inputSchema,
        execute(input, ctx) {
          const { todos } = input as unknown as { readonly todos: readonly Todo[] };
          ctx[keptIn].set(key, todos as unknown as Json);
          return `Updated todo list to ${JSON.stringify(todos)}`;
        },
      },
    ],
  };
  return withTraits(middleware, { offersTools: [], facts: { todosIn: keptIn } });
}

/**
 * Returns the to-do list of `todo`, for hooks: the agent's own list, or the run's list.
 * @example
 * export const watched: AgentMiddleware = {
 *   name: 'watched',
 *   afterToolCalls(_state, ctx) {
 *     ctx.sendEvent(
 *       'to-do',
 *       todosOf(ctx).map(({ content, status }) => `${status}: ${content}`),
 *     );
 *   },
 * };
 */
export function todosOf(
  ctx: Pick<HookContext, 'session' | 'runLocal' | 'factsOfMiddleware'>,
  keptIn: 'session' | 'runLocal' = ctx.factsOfMiddleware('todosIn').includes('runLocal') ? 'runLocal' : 'session',
): readonly Todo[] {
  return (ctx[keptIn].get(key) ?? []) as unknown as readonly Todo[];
}

const todoSchema = objectSchema(
  {
    content: { type: 'string', minLength: 1, maxLength: 2000, description: 'What is to be done: "Write the tests".' },
    activeForm: { type: 'string', maxLength: 2000, description: 'The same while it is done: "Writing the tests".' },
    status: { type: 'string', enum: ['pending', 'in_progress', 'completed'] },
  },
  ['content', 'status'],
);
const inputSchema = objectSchema(
  { todos: { type: 'array', maxItems: 200, description: 'The whole list, as it is to be from now on.', items: todoSchema } },
  ['todos'],
);

const ours =
  'Writes the list of what is to be done, whole, in place of the one before. Each entry is pending, in_progress or completed; one at a time is in_progress.';

const prompts: Readonly<Record<Language, (tool: string) => string>> = {
  en: (tool) =>
    `For work of three steps or more keep a list with ${tool}: write it before you begin, mark the step that you are at as in_progress, and mark each as completed as soon as it is done. Leave it for small tasks.`,
  zh: (tool) =>
    `任务有三步或更多时,用 ${tool} 维护待办清单:开始前写好,正在做的一步标为 in_progress,做完立即标为 completed。小任务不需要清单。`,
};
