import type { Tool } from '../../activities/tools/define-tool';
import { defineTool } from '../../activities/tools/define-tool';
import type { Json } from '../../contract/messages/messages';
import { checkOptions, form, isString, required } from '../../contract/check';
import type { FileBackend } from '../filesystem/worker/backend';
import { backendForm } from '../filesystem/worker/backend';
import type { Task, TaskAnswer, TaskBoard } from './task-board';
import type { TaskToolName } from './task-tools';
import { taskToolNames, taskTools as tools } from './task-tools';
import { taskFiles } from './worker/task-files';

export interface TaskToolsOptions {
  readonly backend: FileBackend;
  /** Such as /tasks. */
  readonly baseDir: string;
}

/**
 * Tasks as files, for `planTask({ keptIn: 'worker' })`. Calls wait for each other only within a process.
 * @example
 * const backend = directoryBackend('workspace');
 * export const sharedTasks = taskTools({ backend, baseDir: '/tasks' });
 * export default defineConfig({ agents: 'agents.ts', tools: { ...tools, ...sharedTasks } });
 */
export function taskTools(options: TaskToolsOptions): Readonly<Record<TaskToolName, Tool<Json, string>>> {
  const folder = form((value) => isString(value) && value !== '', 'the path of a folder, such as "/tasks"');
  checkOptions('taskTools', options, { backend: required(backendForm), baseDir: required(folder) }, 'config-invalid');
  const answer = taskFiles(options.backend, options.baseDir);
  const toolOf = (name: TaskToolName): Tool<Json, string> =>
    defineTool<Json, string>({
      description: tools[name].description,
      inputSchema: tools[name].inputSchema,
      effect: name === 'TaskGet' || name === 'TaskList' ? 'none' : 'idempotent',
      execute: (input, { idempotencyKey }) =>
        answer((board) => (name === 'TaskCreate' ? createdOnce(board, input, idempotencyKey) : tools[name].answer(board, input))),
    });
  return Object.fromEntries(taskToolNames.map((name) => [name, toolOf(name)])) as Record<TaskToolName, Tool<Json, string>>;
}

/** A repeated call finds its lost attempt's task. */
function createdOnce(board: TaskBoard, input: Json, origin: string): TaskAnswer {
  const { text, board: after = board } = tools.TaskCreate.answer(board, input);
  const made = board.tasks.find((task) => (task as MadeTool).origin === origin);
  if (made !== undefined) return { text: `Task #${made.id} created successfully: ${made.subject}` };
  const last = after.tasks.at(-1);
  return last === undefined ? { text } : { text, board: { ...after, tasks: [...board.tasks, { ...last, origin } as MadeTool] } };
}

type MadeTool = Task & { readonly origin?: string };
