import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { HoldfastClient } from '../../../client/index';
import { codeOf, messageOf } from '../../../contract/errors';
import { limits } from '../../../contract/limits';
import type { PushActivities, PushedTask } from '../../../contract/task-push';
import { keptTimeout } from '../../kept-timeout';
import type { SendSettings } from '../../outgoing/send-signed';
import { isFinal, sendSigned } from '../../outgoing/send-signed';
import { headersFor } from './targets';
import { watchTask } from './watch-task';

const heartbeatMs = 5000;
/** The log lacks a message that the server has and no run has taken. */
const triesForUnknown = 10;

interface PushOptions extends Pick<SendSettings, 'secret'> {
  readonly to: () => SendSettings['to'];
  readonly client: HoldfastClient;
  readonly watchMs?: number;
}

export function pushActivities({ client, to, secret, watchMs = limits.pushWatchMs }: PushOptions): PushActivities {
  const clientFor = ({ tenant }: PushedTask): HoldfastClient => (tenant === undefined ? client : client.forTenant(tenant));
  return {
    async watchTask(request) {
      const context = Context.current();
      const { cancellationSignal, info } = context;
      const beat = setInterval(() => context.heartbeat(), heartbeatMs);
      try {
        const news = await watchTask(clientFor(request.task), request, AbortSignal.any([cancellationSignal, keptTimeout(watchMs)]));
        // A cancelled activity runs again, and its result is lost.
        cancellationSignal.throwIfAborted();
        return news;
      } catch (error) {
        if (codeOf(error) !== 'task-unknown' || info.attempt < triesForUnknown) throw error;
        throw ApplicationFailure.nonRetryable(messageOf(error), 'task-unknown');
      } finally {
        clearInterval(beat);
      }
    },
    async sendNotice({ config, notice }) {
      const { cancellationSignal } = Context.current();
      try {
        await sendSigned(config.url, notice, { to: to(), secret, headers: headersFor(config), signal: cancellationSignal });
      } catch (error) {
        throw isFinal(error) ? ApplicationFailure.nonRetryable(messageOf(error), codeOf(error) ?? 'receiver-gone') : error;
      }
    },
  };
}
