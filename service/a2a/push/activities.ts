import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { HoldfastClient } from '../../../client/index';
import { codeOf, messageOf } from '../../../contract/errors';
import { limits } from '../../../contract/limits';
import type { PushActivities } from '../../../contract/task-push';
import type { SendSettings } from './send-notice';
import { isFinal, sendNotice } from './send-notice';
import { watchTask } from './watch-task';

const heartbeatMs = 5000;
/** A message that the server has and no run has taken is not in a log yet. */
const triesForUnknown = 10;

export interface PushOptions extends Pick<SendSettings, 'secret'> {
  /** Where notifications may go now. */
  readonly to: () => SendSettings['to'];
  readonly client: HoldfastClient;
  /** How long it looks at one task until it is the turn of another one. */
  readonly watchMs?: number;
}

/** What a service does for the workflows that tell the states of tasks. */
export function pushActivities({ client, to, secret, watchMs = limits.pushWatchMs }: PushOptions): PushActivities {
  return {
    async watchTask(request) {
      const { cancellationSignal, info, heartbeat } = currentContext();
      const beat = setInterval(heartbeat, heartbeatMs);
      try {
        const news = await watchTask(client, request, AbortSignal.any([cancellationSignal, AbortSignal.timeout(watchMs)]));
        // What is told to stop is done again: nobody takes its result.
        cancellationSignal.throwIfAborted();
        return news;
      } catch (error) {
        if (codeOf(error) !== 'task-unknown' || info.attempt < triesForUnknown) throw error;
        throw ApplicationFailure.nonRetryable(messageOf(error), 'task-unknown');
      } finally {
        clearInterval(beat);
      }
    },
    async sendNotice(request) {
      const { cancellationSignal } = currentContext();
      try {
        await sendNotice(request, { to: to(), secret, signal: cancellationSignal });
      } catch (error) {
        throw isFinal(error) ? ApplicationFailure.nonRetryable(messageOf(error), codeOf(error) ?? 'receiver-gone') : error;
      }
    },
  };
}

function currentContext(): Pick<Context, 'cancellationSignal' | 'info'> & { readonly heartbeat: () => void } {
  const context = Context.current();
  return { cancellationSignal: context.cancellationSignal, info: context.info, heartbeat: () => context.heartbeat() };
}
