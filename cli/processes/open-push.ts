import type { HoldfastClient } from '../../client/index';
import { HoldfastError } from '../../contract/errors';
import { limits } from '../../contract/limits';
import { pushQueuesOf } from '../../contract/task-push';
import { pushActivities } from '../../service/a2a/push/activities';
import type { PushTarget } from '../../service/outgoing/addresses';
import { isLoopbackAddress } from '../../service/http/check-host';
import type { Project } from '../../service/project/load-project';
import { serveActivities } from '../../worker/activity-queue';
import { installRuntime } from '../../worker/runtime';
import type { Lifetime } from './lifetime';
import type { OpenServer } from './open-server';
import type { ProcessSettings } from './process-settings';
import { temporalLog } from './temporal-log';

type PushTo = () => readonly PushTarget[];

const nobody: PushTo = () => [];

/** `holdfast dev` on loopback may notify this machine. */
export async function openPush(
  settings: ProcessSettings,
  server: OpenServer,
  lifetime: Lifetime,
  options: { readonly client: HoldfastClient; readonly isDev: boolean; readonly now: () => Project },
): Promise<PushTo> {
  const { configuration, logger, host, taskQueue } = settings;
  const { client, isDev, now } = options;
  const secret = configuration.pushSecret;
  const byDefault: readonly PushTarget[] = isDev && isLoopbackAddress(host) ? ['loopback'] : [];
  const named = (): readonly PushTarget[] => now().config.a2a?.push?.to ?? byDefault;
  checkSecret(named(), secret);
  if (named().length === 0) return nobody;
  // A changed file may name more targets. The secret comes only from the environment.
  const to: PushTo = () => (secret === undefined ? named().filter(isOwnMachine) : named());
  installRuntime(temporalLog(logger), 'DEBUG', 'WARN');
  const { watch, send } = pushQueuesOf(taskQueue);
  const activities = { ...pushActivities({ client, secret, to }) };
  const queues = await serveActivities({
    server: server.settings,
    dataConverter: server.dataConverter,
    queues: [
      { taskQueue: watch, activities: { watchTask: activities.watchTask }, most: limits.pushWatched },
      { taskQueue: send, activities: { sendNotice: activities.sendNotice }, most: limits.pushSent },
    ],
  });
  queues.stopped.catch((error: unknown) => lifetime.fail(error));
  await lifetime.onEnd('push notifications', () => queues.shutdown());
  return to;
}

function isOwnMachine(target: PushTarget): boolean {
  return target === 'loopback';
}

function checkSecret(to: readonly PushTarget[], secret: string | undefined): void {
  if (secret !== undefined || to.every(isOwnMachine)) return;
  throw new HoldfastError(
    'config-invalid',
    '`a2a.push.to` lets notifications leave this machine, and HOLDFAST_PUSH_SECRET is not set. Set it, so that receivers can tell that they are yours.',
  );
}
