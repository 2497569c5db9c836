import type { Json } from '../../contract/messages/messages';
import type { AgentMiddleware, HookContext, WorkflowTool } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';
import { checkOptions, oneOf } from '../../contract/check';
import type { Task, TaskBoard } from './task-board';
import { emptyBoard } from './task-board';
import { taskToolNames, taskTools } from './task-tools';

export interface PlanTaskOptions {
  /** `run`: in the run itself, for all its agents. `worker`: in the files of the worker's `taskTools`, which runs can share. Default: run. */
  readonly keptIn?: 'run' | 'worker';
}

const key = 'planTask';

/** Gives an agent a plan of tasks that may wait for each other: TaskCreate, TaskGet, TaskUpdate and TaskList. */
export function planTask(options: PlanTaskOptions = {}): AgentMiddleware {
  const { keptIn = 'run' } = checkOptions<PlanTaskOptions>('planTask', options, { keptIn: oneOf('run', 'worker') });
  if (keptIn === 'run') return { name: 'planTask', tools: taskToolNames.map(toolOfRun) };
  const middleware: AgentMiddleware = {
    name: 'planTask',
    beforeAgent: ({ tools }) => ({ tools: [...new Set([...tools, ...taskToolNames])] }),
  };
  return withTraits(middleware, { offersTools: taskToolNames });
}

/** The tasks as they stand in the run, in any hook. */
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
