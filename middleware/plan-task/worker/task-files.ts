import { posix } from 'node:path';
import { messageOf } from '../../../contract/errors';
import type { FileBackend } from '../../filesystem/worker/backend';
import { configuredPath, isFileMissing } from '../../filesystem/worker/backend';
import type { Task, TaskAnswer, TaskBoard } from '../task-board';

const watermark = '.highwatermark';

export class TaskFiles {
  private turn: Promise<unknown> = Promise.resolve();
  private readonly folder: string;

  constructor(
    private readonly backend: FileBackend,
    folder: string,
  ) {
    this.folder = configuredPath('taskTools, baseDir', folder);
  }

  answer(act: (board: TaskBoard) => TaskAnswer): Promise<string> {
    const answered = this.turn.then(async () => {
      const before = await this.read();
      const { text, board } = act(before);
      if (board !== undefined) await this.write(before, board);
      return text;
    });
    this.turn = answered.catch(() => undefined);
    return answered;
  }

  private async read(): Promise<TaskBoard> {
    const entries = await orNothing(this.backend.list(this.folder));
    const files = (entries ?? []).filter(({ path, kind }) => kind === 'file' && /^\d+\.json$/.test(posix.basename(path)));
    const tasks: Task[] = [];
    for (const { path } of files) tasks.push(taskIn(path, await this.backend.read(path)));
    const highest = Number((await orNothing(this.backend.read(this.path(watermark)))) ?? 0);
    return { highWatermark: Number.isInteger(highest) && highest > 0 ? highest : 0, tasks };
  }

  /** The number first: after a crash no second task gets it. */
  private async write(before: TaskBoard, after: TaskBoard): Promise<void> {
    if (after.highWatermark !== before.highWatermark) await this.backend.write(this.path(watermark), String(after.highWatermark));
    const known = new Map(before.tasks.map((task) => [task.id, JSON.stringify(task)]));
    for (const task of after.tasks) {
      const text = JSON.stringify(task);
      if (known.get(task.id) !== text) await this.backend.write(this.path(`${task.id}.json`), text);
      known.delete(task.id);
    }
    for (const id of known.keys()) await this.backend.remove(this.path(`${id}.json`)).catch(ignoreMissing);
  }

  private path(name: string): string {
    return posix.join(this.folder, name);
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

async function orNothing<Result>(reading: Promise<Result>): Promise<Result | undefined> {
  try {
    return await reading;
  } catch (error) {
    ignoreMissing(error);
    return undefined;
  }
}

function ignoreMissing(error: unknown): void {
  if (!isFileMissing(error)) throw error;
}
