import { defined } from '../../../contract/defined';
import type { PushConfig, PushedTask } from '../../../contract/task-push';
import { A2aError } from '../errors';
import type { GivenPushConfig } from '../request';
import { taskIdOf } from '../task-ref';
import type { PushTarget } from './targets';
import { allowedUrl, refused } from './targets';

export interface A2aPushConfig {
  readonly id: string;
  readonly taskId: string;
  readonly url: string;
  readonly token?: string;
  readonly authentication?: { readonly scheme: string; readonly credentials?: string };
}

const onlyId = 'default';

export function checkedConfig(given: GivenPushConfig, to: readonly PushTarget[]): PushConfig {
  if (to.length === 0) throw notSupported();
  const { id = onlyId, url, token, authentication } = given;
  allowedUrl(url, to);
  const { scheme, credentials } = authentication ?? {};
  if (credentials !== undefined && scheme === undefined)
    throw refused('The `authentication` of a config must have a `scheme`, such as "Bearer".');
  return { id, url, ...defined({ token, authentication: scheme === undefined ? undefined : { scheme, ...defined({ credentials }) } }) };
}

export function notSupported(): A2aError {
  return new A2aError('PUSH_NOTIFICATION_NOT_SUPPORTED', 'protocol-unsupported', 'The service sends no push notifications.');
}

export function shownConfig({ contextId, message }: PushedTask, config: PushConfig): A2aPushConfig {
  const { id, url, token, authentication } = config;
  return { id, taskId: taskIdOf({ contextId, message }), url, ...defined({ token, authentication }) };
}

export function configUnknown(id: string): A2aError {
  return new A2aError('TASK_NOT_FOUND', 'task-unknown', `The task has no push notification config "${id}", or is told no more.`);
}
