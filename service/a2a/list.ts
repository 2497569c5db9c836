import type { HoldfastClient } from '../../client/index';
import { HoldfastError } from '../../contract/errors';
import type { RunEvent } from '../../contract/events';
import { isRunId } from '../../contract/names';
import { shown } from '../../contract/shown';
import type { Thread } from '../projection/thread';
import { threadOf } from '../projection/thread';
import { eventsBetween } from '../projection/thread-log';
import type { ListParams } from './request';
import { TaskFold, drain } from './task-fold';

const defaultPageSize = 50;
const anyState: readonly string[] = ['TASK_STATE_UNSPECIFIED', 'UNRECOGNIZED'];

export async function listTasks(client: HoldfastClient, agent: string, params: ListParams, signal: AbortSignal) {
  const { contextId, status, pageSize = defaultPageSize, pageToken, historyLength, statusTimestampAfter, includeArtifacts } = params;
  if (contextId === undefined) throw new HoldfastError('request-invalid', 'Name the `contextId` whose tasks are asked for.');
  if (!isRunId(contextId)) throw new HoldfastError('run-id-invalid', `"${contextId}" cannot be the id of a context.`);
  const after = statusTimestampAfter === undefined ? 0 : Date.parse(statusTimestampAfter);
  const found = (await tasksIn(threadOf(client, agent, contextId), signal))
    .filter((fold) => (status === undefined || anyState.includes(status) || fold.state === status) && fold.time >= after)
    .map((fold) => fold.task({ withArtifacts: includeArtifacts === true, ...(historyLength === undefined ? {} : { historyLength }) }));
  const begin = pageToken === undefined ? 0 : found.findIndex(({ id }) => id === pageToken) + 1;
  if (pageToken !== undefined && begin === 0)
    throw new HoldfastError('request-invalid', `The pageToken ${shown(pageToken)} is not of this list. Begin without one.`);
  const tasks = found.slice(begin, begin + pageSize);
  const nextPageToken = begin + pageSize < found.length ? (tasks.at(-1)?.id ?? '') : '';
  return { tasks, nextPageToken, pageSize, totalSize: found.length };
}

async function tasksIn(thread: Thread, signal: AbortSignal): Promise<readonly TaskFold[]> {
  const view = await thread.view();
  if (view === undefined) return [];
  const { id: contextId, nextOffset, conversation } = view;
  const folds: TaskFold[] = [];
  const begin = (message: string): TaskFold => {
    const fold = new TaskFold({ contextId, message });
    folds.push(fold);
    return fold;
  };
  let turn: { readonly events: RunEvent[]; readonly folds: TaskFold[] } = { events: [], folds: [] };
  for await (const event of eventsBetween(thread, 0, nextOffset, signal)) {
    if (event.type === 'turn-start') turn = { events: [], folds: [] };
    turn.events.push(event);
    for (const fold of turn.folds) drain(fold.take(event));
    if (event.type === 'message') {
      const fold = begin(event.id);
      for (const one of turn.events) drain(fold.take(one));
      turn.folds.push(fold);
    }
  }
  for (const fold of turn.folds) drain(fold.stands(view));
  for (const { id } of conversation?.queue ?? []) begin(id);
  return folds.reverse().sort((a, b) => b.time - a.time);
}
