import { messageOf } from '../../contract/errors';
import { connectTemporal } from '../../host/connection';
import { retryCallsOf } from '../../worker/predecessors';
import type { OpenServer } from './open-server';
import type { ProcessSettings } from './process-settings';

/** Repeats calls of processes that were killed, before the server misses the heartbeats of the calls. */
export async function retryCalls(dead: readonly string[], { logger, taskQueue }: ProcessSettings, server: OpenServer): Promise<void> {
  if (dead.length === 0) return;
  try {
    const { connection, close } = await connectTemporal(server.settings);
    try {
      const retried = await retryCallsOf(dead, { connection, namespace: server.settings.namespace, taskQueue });
      if (retried > 0) logger.info(`Made again, of a process that was killed: ${retried} call${retried === 1 ? '' : 's'}.`);
    } finally {
      await close();
    }
  } catch (error) {
    logger.debug(`Calls of a process that was killed wait for the server to notice: ${messageOf(error)}`);
  }
}
