import { posix } from 'node:path';
import { messageOf } from '../../../contract/errors';
import type { FileBackend } from '../../filesystem/worker/backend';
import { configuredPath, ifThere } from '../../filesystem/worker/backend';
import type { Task, TaskAnswer, TaskBoard } from '../task-board';

/** Answers wait for each other. */
export function taskFiles(backend: FileBackend, baseDir: string): (act: (board: TaskBoard) => TaskAnswer) => Promise<string> {
  const folder = configuredPath('taskTools, baseDir', baseDir);
  const watermark = posix.join(folder, '.highwatermark');
  const fileOf = (id: string): string => posix.join(folder, `${id}.json`);
  let turn: Promise<unknown> = Promise.resolve();
  return (act) => {
    const answered = turn.then(async () => {
      const before = await read();
      const { text, board } = act(before);
      if (board !== undefined) await write(before, board);
      return text;
    });
    turn = answered.catch(() => undefined);
    return answered;
  };

  async function read(): Promise<TaskBoard> {
    const entries = (await ifThere(() => backend.list(folder))) ?? [];
    const tasks: Task[] = [];
    for (const { path, kind } of entries)
      if (kind === 'file' && /^\d+\.json$/.test(posix.basename(path))) tasks.push(taskIn(path, await backend.read(path)));
    const highest = Number((await ifThere(() => backend.read(watermark))) ?? 0);
    return { highWatermark: Number.isInteger(highest) && highest > 0 ? highest : 0, tasks };
  }

  /** The number first: after a crash no second task gets it. */
  async function write(before: TaskBoard, after: TaskBoard): Promise<void> {
    if (after.highWatermark !== before.highWatermark) await backend.write(watermark, String(after.highWatermark));
    const known = new Map(before.tasks.map((task) => [task.id, JSON.stringify(task)]));
    for (const task of after.tasks) {
      const text = JSON.stringify(task);
      if (known.get(task.id) !== text) await backend.write(fileOf(task.id), text);
      known.delete(task.id);
    }
    for (const id of known.keys()) await ifThere(() => backend.remove(fileOf(id)));
  }
}

function taskIn(path: string, text: string): Task {
  try {
    const task = JSON.parse(text) as Partial<Task>;
    const { subject = '', description = '', status = 'pending', blocks = [], blockedBy = [] } = task;
    return { ...task, id: posix.basename(path, '.json'), subject, description, status, blocks, blockedBy };
  } catch (error) {
    throw new Error(`${path} holds no task: ${messageOf(error)}`);
  }
}
