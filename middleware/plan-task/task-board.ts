import { defined } from '../../contract/defined';
import { messageOf } from '../../contract/errors';
import type { Json, JsonObject } from '../../contract/messages/messages';

export interface Task {
  readonly id: string;
  readonly subject: string;
  readonly description: string;
  readonly status: 'pending' | 'in_progress' | 'completed';
  /** Such as "Writing the tests". */
  readonly activeForm?: string;
  readonly owner?: string;
  /** Ids of tasks that wait for this task. `blockedBy`: the opposite. */
  readonly blocks: readonly string[];
  readonly blockedBy: readonly string[];
  readonly metadata?: JsonObject;
}

/** `highWatermark`: the highest number ever used. */
export interface TaskBoard {
  readonly highWatermark: number;
  readonly tasks: readonly Task[];
}

export interface TaskAnswer {
  readonly text: string;
  readonly board?: TaskBoard;
}

export const emptyBoard: TaskBoard = { highWatermark: 0, tasks: [] };
const mostTasks = 500;

export type NewTask = Pick<Task, 'subject' | 'description'> & Partial<Pick<Task, 'activeForm' | 'metadata'>>;

export function createTask(board: TaskBoard, { subject, description, activeForm, metadata }: NewTask): TaskAnswer {
  if (board.tasks.length >= mostTasks) throw new Error(`There are ${mostTasks} tasks. Complete or delete some first.`);
  const number = Math.max(board.highWatermark, ...board.tasks.map(({ id }) => Number(id))) + 1;
  const task: Task = {
    id: String(number),
    subject,
    description,
    status: 'pending',
    blocks: [],
    blockedBy: [],
    ...defined({ activeForm }),
    ...(metadata === undefined ? {} : { metadata: merged(undefined, metadata) }),
  };
  return { text: `Task #${task.id} created successfully: ${subject}`, board: { highWatermark: number, tasks: [...board.tasks, task] } };
}

export function describeTask({ tasks }: TaskBoard, id: string): TaskAnswer {
  const { subject, status, description, owner, blockedBy, blocks } = taskOf(tasks, id);
  const lines = [
    `Task #${id}: ${subject}`,
    `Status: ${status}`,
    `Description: ${description}`,
    ...(owner === undefined || owner === '' ? [] : [`Owner: ${owner}`]),
    ...(blockedBy.length === 0 ? [] : [`Blocked by: ${numbers(blockedBy)}`]),
    ...(blocks.length === 0 ? [] : [`Blocks: ${numbers(blocks)}`]),
  ];
  return { text: lines.join('\n') };
}

export function listTasks({ tasks }: TaskBoard): TaskAnswer {
  if (tasks.length === 0) return { text: 'No tasks found.' };
  const lines = sorted(tasks).map(({ id, status, subject, owner, blockedBy }) =>
    [
      `#${id} [${status}] ${subject}`,
      ...(owner === undefined || owner === '' ? [] : [`[owner: ${owner}]`]),
      ...(blockedBy.length === 0 ? [] : [`[blocked by ${numbers(blockedBy)}]`]),
    ].join(' '),
  );
  return { text: lines.join('\n') };
}

export interface TaskChange extends Partial<Omit<Task, 'id' | 'status' | 'blocks' | 'blockedBy'>> {
  readonly taskId: string;
  readonly status?: Task['status'] | 'deleted';
  readonly addBlocks?: readonly string[];
  readonly addBlockedBy?: readonly string[];
}

export function updateTask(board: TaskBoard, change: TaskChange): TaskAnswer {
  const { taskId, status, addBlocks = [], addBlockedBy = [], metadata, ...rest } = change;
  const before = named('TaskUpdate failed', () => taskOf(board.tasks, taskId));
  if (status === 'deleted') return { text: `Task #${taskId} deleted`, board: { ...board, tasks: withoutTask(board.tasks, taskId) } };
  const blocking = named(`TaskUpdate of #${taskId} failed: addBlocks`, () =>
    addBlocks.reduce((tasks, other) => withLink(tasks, taskId, other), board.tasks),
  );
  const linked = named(`TaskUpdate of #${taskId} failed: addBlockedBy`, () =>
    addBlockedBy.reduce((tasks, other) => withLink(tasks, other, taskId), blocking),
  );
  const after: Task = {
    ...taskOf(linked, before.id),
    ...defined(rest),
    ...defined({ status }),
    ...(metadata === undefined ? {} : { metadata: merged(before.metadata, metadata) }),
  };
  const tasks = linked.map((task) => (task.id === taskId ? after : task));
  const text = `Updated task #${taskId} ${changedFields(change).join(', ')}`.trimEnd();
  const isDone = status === 'completed' && tasks.every((task) => task.status === 'completed');
  return { text, board: { ...board, tasks: isDone ? [] : tasks } };
}

function named<Result>(what: string, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    throw new Error(`${what}: ${messageOf(error)}`, { cause: error });
  }
}

function changedFields(change: TaskChange): readonly string[] {
  const names = { addBlocks: 'blocks', addBlockedBy: 'blockedBy' } as Readonly<Record<string, string>>;
  return Object.entries(change)
    .filter(([field, value]) => field !== 'taskId' && value !== undefined)
    .map(([field]) => names[field] ?? field);
}

function merged(before: JsonObject | undefined, metadata: JsonObject): JsonObject {
  const all: Record<string, Json | undefined> = { ...before, ...metadata };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null && value !== undefined));
}

function withoutTask(tasks: readonly Task[], gone: string): readonly Task[] {
  const others = (ids: readonly string[]): readonly string[] => ids.filter((id) => id !== gone);
  return tasks.filter(({ id }) => id !== gone).map((task) => ({ ...task, blocks: others(task.blocks), blockedBy: others(task.blockedBy) }));
}

function withLink(tasks: readonly Task[], blocker: string, blocked: string): readonly Task[] {
  const [first] = [taskOf(tasks, blocker), taskOf(tasks, blocked)];
  if (first.blocks.includes(blocked)) return tasks;
  if (blocker === blocked || leadsTo(tasks, blocked, blocker))
    throw new Error(`cyclic dependency: task #${blocker} cannot block task #${blocked}, which it would wait for itself.`);
  return tasks.map((task) => {
    if (task.id === blocker) return { ...task, blocks: [...task.blocks, blocked] };
    return task.id === blocked ? { ...task, blockedBy: [...task.blockedBy, blocker] } : task;
  });
}

function leadsTo(tasks: readonly Task[], from: string, to: string): boolean {
  const seen = new Set<string>();
  const open = [from];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === to) return true;
    if (seen.has(id)) continue;
    seen.add(id);
    open.push(...(tasks.find((task) => task.id === id)?.blocks ?? []));
  }
  return false;
}

function taskOf(tasks: readonly Task[], id: string): Task {
  if (!/^\d{1,15}$/.test(id)) throw new Error(`validate task ID failed: "${id.slice(0, 100)}" is no number of a task.`);
  const task = tasks.find((one) => one.id === id);
  if (task === undefined) throw new Error(`Task #${id} not found`);
  return task;
}

function sorted(tasks: readonly Task[]): readonly Task[] {
  return [...tasks].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function numbers(ids: readonly string[]): string {
  return ids.map((id) => `#${id}`).join(', ');
}
