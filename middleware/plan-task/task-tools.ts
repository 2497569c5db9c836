import type { Json } from '../../contract/messages/messages';
import { objectSchema } from '../object-schema';
import type { NewTask, TaskAnswer, TaskBoard, TaskChange } from './task-board';
import { createTask, describeTask, listTasks, updateTask } from './task-board';

export interface TaskTool {
  readonly description: string;
  readonly inputSchema: { readonly [keyword: string]: Json };
  answer(board: TaskBoard, input: Json): TaskAnswer;
}

const text = (description: string, maxLength = 8000): Json => ({ type: 'string', maxLength, description });
const ids = (description: string): Json => ({ type: 'array', items: { type: 'string' }, maxItems: 100, description });

export const taskToolNames = ['TaskCreate', 'TaskGet', 'TaskUpdate', 'TaskList'] as const;
export type TaskToolName = (typeof taskToolNames)[number];

const subject = text('What is to be done, in short: "Write the tests".', 500);
const description = text('What belongs to it, and when it is done.');
const activeForm = text('How it is said while it is done: "Writing the tests".', 500);
const metadata: Json = { type: 'object', description: 'What else is to be known of it. null takes a key away.' };

export const taskTools: Readonly<Record<TaskToolName, TaskTool>> = {
  TaskCreate: {
    description: 'Adds a task to the plan. It is pending at first. Use it for work of three steps or more.',
    inputSchema: objectSchema({ subject, description, activeForm, metadata }, ['subject', 'description']),
    answer: (board, input) => createTask(board, input as unknown as NewTask),
  },
  TaskGet: {
    description: 'Shows a task: its status, its description, what it waits for and what waits for it.',
    inputSchema: objectSchema({ taskId: text('The number of the task.', 100) }, ['taskId']),
    answer: (board, input) => describeTask(board, (input as { taskId: string }).taskId),
  },
  TaskUpdate: {
    description:
      'Changes a task. Set it to in_progress when you begin, to completed when it is wholly done, to deleted when it is not needed. When all tasks are completed, the plan is cleared.',
    inputSchema: objectSchema(
      {
        taskId: text('The number of the task.', 100),
        subject,
        description,
        activeForm,
        status: { type: 'string', enum: ['pending', 'in_progress', 'completed', 'deleted'] },
        addBlocks: ids('Numbers of tasks that wait for this one from now on.'),
        addBlockedBy: ids('Numbers of tasks that this one waits for from now on.'),
        owner: text('Who does it.', 200),
        metadata,
      },
      ['taskId'],
    ),
    answer: (board, input) => updateTask(board, input as unknown as TaskChange),
  },
  TaskList: {
    description: 'Lists all tasks of the plan, with their status.',
    inputSchema: objectSchema({}, []),
    answer: listTasks,
  },
};
