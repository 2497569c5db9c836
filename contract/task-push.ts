export interface PushConfig {
  /** The same id replaces the config. */
  readonly id: string;
  readonly url: string;
  /** Sent along, so that the receiver knows the sender. */
  readonly token?: string;
  readonly authentication?: { readonly scheme: string; readonly credentials?: string };
}

export interface PushedTask {
  /** Absent: the tenant of the service that tells. */
  readonly tenant?: string;
  readonly agent: string;
  readonly contextId: string;
  readonly message: string;
}

export interface PushNotice {
  /** Equal for all attempts. */
  readonly id: string;
  readonly body: string;
}

export interface PushCursor {
  readonly offset: number;
}

export interface ReceiverState {
  readonly config: PushConfig;
  /** Undefined: the receiver first gets the current state. */
  readonly cursor?: PushCursor;
  /** Oldest first. */
  readonly pending: readonly PushNotice[];
  /** When attempts for the oldest notification end, in milliseconds since 1970. */
  readonly until?: number;
  /** Nothing follows the pending notifications. */
  readonly isOver?: true;
}

export interface TaskPushInput {
  readonly task: PushedTask;
  readonly queues: PushQueues;
  readonly receivers: readonly ReceiverState[];
}

export interface PushQueues {
  readonly watch: string;
  readonly send: string;
}

export function pushQueuesOf(taskQueue: string): PushQueues {
  return { watch: `${taskQueue}-push-watch`, send: `${taskQueue}-push-send` };
}

export type PushCommand =
  /** `fromBeginning`: all states, not only future states. */
  { readonly type: 'set'; readonly config: PushConfig; readonly fromBeginning?: true } | { readonly type: 'remove'; readonly id: string };

export interface PushNews {
  readonly notices: readonly PushNotice[];
  readonly cursor?: PushCursor;
  readonly isOver?: true;
}

export interface WatchRequest {
  readonly task: PushedTask;
  readonly cursor?: PushCursor;
}

export interface SendRequest {
  readonly task: PushedTask;
  readonly config: PushConfig;
  readonly notice: PushNotice;
}

export interface PushActivities {
  watchTask(request: WatchRequest): Promise<PushNews>;
  sendNotice(request: SendRequest): Promise<void>;
}

/** Without secrets. */
export interface ShownPushConfig {
  readonly id: string;
  readonly url: string;
  readonly scheme?: string;
}

export function shownPushConfig({ id, url, authentication }: PushConfig): ShownPushConfig {
  return { id, url, ...(authentication === undefined ? {} : { scheme: authentication.scheme }) };
}

export function pushBegin(config: PushConfig, fromBeginning: boolean): ReceiverState {
  return { config, pending: [], ...(fromBeginning ? { cursor: { offset: -1 } } : {}) };
}
