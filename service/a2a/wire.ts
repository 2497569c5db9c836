import type { Json } from '../../contract/messages/messages';

export const a2aVersion = '1.0';

/** Exactly one of the first four fields is present. */
export interface A2aPart {
  readonly text?: string;
  readonly data?: Json;
  readonly url?: string;
  readonly raw?: string;
  readonly mediaType?: string;
}

export interface A2aMessage {
  readonly messageId: string;
  readonly contextId: string;
  readonly taskId: string;
  readonly role: 'ROLE_USER' | 'ROLE_AGENT';
  readonly parts: readonly A2aPart[];
}

export const taskStates = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_REJECTED',
] as const;
export type A2aTaskState = (typeof taskStates)[number];

export interface A2aStatus {
  readonly state: A2aTaskState;
  readonly message?: A2aMessage;
  readonly timestamp?: string;
}

export interface A2aArtifact {
  readonly artifactId: string;
  readonly name: string;
  readonly parts: readonly A2aPart[];
}

/** Empty fields are left out, as in the JSON of protocol buffers. */
export interface A2aTask {
  readonly id: string;
  readonly contextId: string;
  readonly status: A2aStatus;
  readonly artifacts?: readonly A2aArtifact[];
  readonly history?: readonly A2aMessage[];
  readonly metadata: Json;
}

interface OfTask {
  readonly taskId: string;
  readonly contextId: string;
}

/** A stream begins with the task; updates follow. */
export type A2aUpdate =
  | { readonly statusUpdate: OfTask & { readonly status: A2aStatus } }
  /** `append`: adds parts. Absent: replaces all parts. */
  | {
      readonly artifactUpdate: OfTask & { readonly artifact: A2aArtifact; readonly append?: true; readonly lastChunk?: true };
    };

export type A2aFrame = { readonly task: A2aTask } | A2aUpdate;

const over: readonly A2aTaskState[] = ['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED'];

export function isOver(state: A2aTaskState): boolean {
  return over.includes(state);
}
