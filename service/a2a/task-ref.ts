import { isMessageId } from '../../contract/conversations';
import { HoldfastError } from '../../contract/errors';
import { isRunId } from '../../contract/names';
import { shown } from '../../contract/shown';
import { hashOf } from '../projection/content';

/** A context is a conversation, a task is the work for one message. */
export interface TaskRef {
  readonly contextId: string;
  readonly message: string;
}

/** Never part of an id of a conversation or message. */
const separator = '~';

export function taskIdOf({ contextId, message }: TaskRef): string {
  return `${contextId}${separator}${message}`;
}

/** The task's id contains its place, so the service stores nothing. */
export function taskRefOf(taskId: string): TaskRef {
  const [contextId = '', message = '', ...more] = taskId.split(separator);
  if (more.length === 0 && isRunId(contextId) && isMessageId(message)) return { contextId, message };
  throw taskUnknown(taskId);
}

export function taskUnknown(taskId: string): HoldfastError {
  return new HoldfastError('task-unknown', `This agent has no task ${shown(taskId)}.`);
}

export function sentIdOf(messageId: string): string {
  return isMessageId(messageId) ? messageId : `a2a.${hashOf(JSON.stringify([messageId]), 40)}`;
}

export function newContextId(agent: string, messageId: string, content: unknown): string {
  return `a2a-${hashOf(JSON.stringify([agent, messageId, content]), 40)}`;
}
