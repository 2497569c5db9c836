/** Where somebody wants to hear how a task of A2A goes on. */
export interface PushConfig {
  /** Of its task. The same id again takes the place of the one before. */
  readonly id: string;
  readonly url: string;
  /** Comes back with each notification, so that the receiver knows the sender. */
  readonly token?: string;
  readonly authentication?: { readonly scheme: string; readonly credentials?: string };
}

/** The task whose states are told: what came of one message to a conversation. */
export interface PushedTask {
  readonly agent: string;
  readonly contextId: string;
  readonly message: string;
}

/** One state of a task, as it is sent. */
export interface PushNotice {
  /** The same for each try. */
  readonly id: string;
  readonly body: string;
}

/** Where a reader of the states has come to. */
export interface PushCursor {
  /** States that the log tells up to this offset are told. */
  readonly offset: number;
}

/** One receiver of the states. */
export interface ReceiverState {
  readonly config: PushConfig;
  /** Undefined: it first hears how the task stands. */
  readonly cursor?: PushCursor;
  /** What it has not taken yet, the oldest first. */
  readonly pending: readonly PushNotice[];
  /** Until when the oldest of them is tried, in milliseconds since 1970. */
  readonly until?: number;
  /** Nothing comes after what is pending. */
  readonly isOver?: true;
}

/** What the workflow begins with that tells the states of a task. */
export interface TaskPushInput {
  readonly task: PushedTask;
  readonly queues: PushQueues;
  readonly receivers: readonly ReceiverState[];
}

/** The task queues of the services that read states, and that send them. */
export interface PushQueues {
  readonly watch: string;
  readonly send: string;
}

export function pushQueuesOf(taskQueue: string): PushQueues {
  return { watch: `${taskQueue}-push-watch`, send: `${taskQueue}-push-send` };
}

export type PushCommand =
  /** `fromBeginning`: all states of the task are told, and not only those from now on. */
  { readonly type: 'set'; readonly config: PushConfig; readonly fromBeginning?: true } | { readonly type: 'remove'; readonly id: string };

/** What is new of a task. */
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

/** What a service does for the workflow. */
export interface PushActivities {
  watchTask(request: WatchRequest): Promise<PushNews>;
  sendNotice(request: SendRequest): Promise<void>;
}

/** A config as others may see it: without what the receiver knows the sender by. */
export interface ShownPushConfig {
  readonly id: string;
  readonly url: string;
  readonly scheme?: string;
}

export function shownPushConfig({ id, url, authentication }: PushConfig): ShownPushConfig {
  return { id, url, ...(authentication === undefined ? {} : { scheme: authentication.scheme }) };
}

/** A receiver that comes now, or with the task. */
export function pushBegin(config: PushConfig, fromBeginning: boolean): ReceiverState {
  return { config, pending: [], ...(fromBeginning ? { cursor: { offset: -1 } } : {}) };
}
