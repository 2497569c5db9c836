import { createHash } from 'node:crypto';
import { isMessageId } from '../../contract/conversations';
import { HoldfastError } from '../../contract/errors';
import { isRunId } from '../../contract/names';
import { shown } from '../../contract/shown';

/** Where a task is: a context is a conversation, and a task is what came of one message to it. */
export interface TaskRef {
  readonly contextId: string;
  /** The message that began it, by the id under which the conversation knows it. */
  readonly message: string;
}

/** No id of a conversation or of a message has it. */
const separator = '~';

export function taskIdOf({ contextId, message }: TaskRef): string {
  return `${contextId}${separator}${message}`;
}

/** The id says where the task is, so that nothing has to be kept. */
export function taskRefOf(taskId: string): TaskRef {
  const [contextId = '', message = '', ...more] = taskId.split(separator);
  if (more.length === 0 && isRunId(contextId) && isMessageId(message)) return { contextId, message };
  throw taskUnknown(taskId);
}

export function taskUnknown(taskId: string): HoldfastError {
  return new HoldfastError('task-unknown', `This agent has no task ${shown(taskId)}.`);
}

/** The id under which the conversation knows a message of a client. The same message counts once. */
export function sentIdOf(messageId: string): string {
  return isMessageId(messageId) ? messageId : `a2a.${hashOf([messageId])}`;
}

/** The context of a message that names none. The same message again is in the same one. */
export function newContextId(agent: string, messageId: string, content: unknown): string {
  return `a2a-${hashOf([agent, messageId, content])}`;
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 40);
}
