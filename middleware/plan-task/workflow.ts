import type { Json } from '../../contract/messages/messages';
import type { AgentMiddleware, HookContext, WorkflowTool } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';
import { checkOptions, oneOf } from '../../contract/check';
import type { Task, TaskBoard } from './task-board';
import { emptyBoard } from './task-board';
import { taskToolNames, taskTools } from './task-tools';

export interface PlanTaskOptions {
  /** `run` (default): the run keeps the tasks, for its agents. `worker`: the worker keeps the tasks in files, for several runs. */
  readonly keptIn?: 'run' | 'worker';
}

const key = 'planTask';

/**
 * Tools for a plan of tasks that may wait for each other.
 * @example
 * export const planner = defineAgent({
 *   name: 'planner',
 *   description: 'Does work of many steps.',
 *   instructions: 'Plan first, then work.',
 *   model: 'default',
 *   tools: [],
 *   middleware: [planTask()],
 * });
 */
export function planTask(options: PlanTaskOptions = {}): AgentMiddleware {
  const { keptIn = 'run' } = checkOptions<PlanTaskOptions>('planTask', options, { keptIn: oneOf('run', 'worker') });
  if (keptIn === 'run') return { name: 'planTask', tools: taskToolNames.map(toolOfRun) };
  const middleware: AgentMiddleware = {
    name: 'planTask',
    beforeAgent: ({ tools }) => ({ tools: [...new Set([...tools, ...taskToolNames])] }),
  };
  return withTraits(middleware, { offersTools: taskToolNames });
}

/**
 * Returns the tasks of `planTask`, for hooks.
 * @example
 * export const watched: AgentMiddleware = {
 *   name: 'watched',
 *   afterToolCalls(_state, ctx) {
 *     ctx.sendEvent('open-tasks', tasksOf(ctx).filter(({ status }) => status !== 'completed').length);
 *   },
 * };
 */
export function tasksOf(ctx: Pick<HookContext, 'session'>): readonly Task[] {
  return boardOf(ctx).tasks;
}

function boardOf({ session }: Pick<HookContext, 'session'>): TaskBoard {
  return (session.get(key) ?? emptyBoard) as unknown as TaskBoard;
}

function toolOfRun(name: (typeof taskToolNames)[number]): WorkflowTool {
  const { description, inputSchema, answer } = taskTools[name];
  return {
    name,
    description,
    inputSchema,
    execute(input, ctx) {
      const { text, board } = answer(boardOf(ctx), input);
      if (board !== undefined) ctx.session.set(key, board as unknown as Json);
      return text;
    },
  };
}
