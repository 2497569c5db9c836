import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ConnectionLike } from '@temporalio/client';
import { messageOf } from '../../contract/errors';
import { millisecondsOf } from '../../host/history/history-facts';
import { fine, found, type Finding } from './finding';

/** TASK_QUEUE_TYPE_ACTIVITY of Temporal. */
const ofActivities = 2;
const pollMs = 50;
const patienceMs = 5_000;
const noticedMs = 2_000;
/** Above this difference, servers refuse keys and certificates with a period of validity. */
const harmfulMs = 60_000;

/**
 * No request of Temporal returns the time, but the server stores the last poll of a task queue, so an unused queue is polled between two
 * readings of the local clock.
 */
export async function checkClock(connection: ConnectionLike, namespace: string, now: () => number = Date.now): Promise<Finding> {
  try {
    const [from, to, server] = await polledAt(connection, namespace, now);
    const ahead = server < from ? from - server : server > to ? to - server : 0;
    const seconds = `${Math.abs(ahead / 1000).toFixed(1)} s ${ahead > 0 ? 'ahead of' : 'behind'} that of the server`;
    if (Math.abs(ahead) < noticedMs) return fine('clock', 'The clock of this machine agrees with that of the server.');
    return found('clock', Math.abs(ahead) < harmfulMs ? 'warning' : 'problem', 'clock-differs', `The clock of this machine is ${seconds}.`);
  } catch (error) {
    return found('clock', 'warning', 'clock-differs', `The server could not be asked for the time: ${messageOf(error)}`);
  }
}

async function polledAt(connection: ConnectionLike, namespace: string, now: () => number): Promise<readonly [number, number, number]> {
  const identity = `holdfast-doctor-${randomUUID()}`;
  const taskQueue = { name: 'holdfast-doctor' };
  const ending = new AbortController();
  const from = now();
  const polling = connection
    .withAbortSignal(ending.signal, () => connection.workflowService.pollActivityTaskQueue({ namespace, taskQueue, identity }))
    .catch(() => undefined);
  try {
    for (const began = Date.now(); Date.now() - began < patienceMs; await delay(pollMs)) {
      const { pollers } = await connection.workflowService.describeTaskQueue({ namespace, taskQueue, taskQueueType: ofActivities });
      const own = pollers?.find((poller) => poller.identity === identity);
      const server = millisecondsOf(own?.lastAccessTime);
      if (server > 0) return [from, now(), server];
    }
    throw new Error(`The server did not tell the time within ${patienceMs / 1000} s.`);
  } finally {
    ending.abort();
    await polling;
  }
}
