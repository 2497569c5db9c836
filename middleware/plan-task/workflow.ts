import type { Json } from '../../contract/messages/messages';
import type { AgentMiddleware, HookContext, WorkflowTool } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';
import { checkOptions, oneOf } from '../../contract/check';
import type { Task, TaskBoard } from './task-board';
import { emptyBoard } from './task-board';
import { taskToolNames, taskTools } from './task-tools';

export interface PlanTaskOptions {
  /** `run` (default): for all agents of the run. `worker`: in files, for several runs. */
  readonly keptIn?: 'run' | 'worker';
}

const key = 'planTask';

/** Tools for a plan of tasks that may wait for each other. */
export function planTask(options: PlanTaskOptions = {}): AgentMiddleware {
  const { keptIn = 'run' } = checkOptions<PlanTaskOptions>('planTask', options, { keptIn: oneOf('run', 'worker') });
  if (keptIn === 'run') return { name: 'planTask', tools: taskToolNames.map(toolOfRun) };
  const middleware: AgentMiddleware = {
    name: 'planTask',
    beforeAgent: ({ tools }) => ({ tools: [...new Set([...tools, ...taskToolNames])] }),
  };
  return withTraits(middleware, { offersTools: taskToolNames });
}

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
