import { z } from 'zod';
import { defined } from '../../../contract/defined';
import type { PushConfig, PushedTask } from '../../../contract/task-push';
import type { PushTarget } from '../../outgoing/addresses';
import { allowedUrl, refused } from '../../outgoing/addresses';
import { A2aError } from '../errors';
import type { GivenPushConfig } from '../request';
import { taskIdOf } from '../task-ref';

export interface A2aOptions {
  /** Push notifications. Default: with `holdfast dev` on loopback to this machine, else none. */
  readonly push?: {
    /** Empty: none. */
    readonly to: readonly PushTarget[];
  };
}

function isTarget(text: string): boolean {
  if (text === 'public' || text === 'loopback') return true;
  return URL.canParse(text) && new URL(text).origin === text && /^https?:/.test(text);
}

const target = z.string().refine(isTarget, "is not 'public', 'loopback', or an origin such as \"https://hooks.example.com\"");

export const A2aOptionsSchema = z.strictObject({
  push: z.strictObject({ to: z.array(target).max(1000) }).optional(),
}) as z.ZodType<A2aOptions>;

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

export function headersFor({ token, authentication }: Omit<PushConfig, 'id' | 'url'>): Readonly<Record<string, string>> {
  const { scheme, credentials } = authentication ?? {};
  return {
    'content-type': 'application/a2a+json',
    ...(token === undefined ? {} : { 'x-a2a-notification-token': token }),
    ...(credentials === undefined ? {} : { authorization: `${scheme} ${credentials}` }),
  };
}

export function notSupported(): A2aError {
  return new A2aError('PUSH_NOTIFICATION_NOT_SUPPORTED', 'protocol-unsupported', 'The service sends no push notifications.');
}

export function shownConfig({ contextId, message }: PushedTask, config: PushConfig): PushConfig & { readonly taskId: string } {
  const { id, ...rest } = config;
  return { id, taskId: taskIdOf({ contextId, message }), ...rest };
}

export function configUnknown(id: string): A2aError {
  return new A2aError('TASK_NOT_FOUND', 'task-unknown', `The task has no push notification config "${id}", or is told no more.`);
}
