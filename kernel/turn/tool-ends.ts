import { defined } from '../../contract/defined';
import { HoldfastError, messageOf } from '../../contract/errors';
import type { Failure, Json, Message, StoredMessage, ToolCall } from '../../contract/messages/messages';
import { isMessage, notJson, toolMessage } from '../../contract/messages/messages';
import type { MiddlewareChange } from '../../contract/middleware-changes';
import type { Traits } from '../define/traits';
import { traitsOf } from '../define/traits';
import type { AgentScope } from '../run/scope';
import { frozen } from '../../contract/freeze';
import { ToolError, blame, failureOf, isToolProblem, labelOf } from '../effects/errors';

export interface ToolStepResult {
  readonly message: StoredMessage;
  readonly error?: Failure;
  /** The result at a sender inside of layers that changed it later. */
  readonly shown?: StoredMessage;
  readonly action?: Json;
  readonly changes?: readonly MiddlewareChange[];
}

function throughAll({ agent }: AgentScope, message: Message): Message {
  return agent.middleware.reduce<Message>((before, middleware) => {
    const { changesToolEnd } = traitsOf(middleware);
    return changesToolEnd === undefined ? before : changedBy(middleware.name, changesToolEnd, before);
  }, message);
}

function changedBy(name: string, change: NonNullable<Traits['changesToolEnd']>, before: Message): Message {
  const label = labelOf('changesToolEnd', name);
  let after: Message;
  try {
    after = change(frozen(before));
  } catch (error) {
    throw blame(error, label);
  }
  if (after === before || (isMessage(after) && after.role === 'tool' && notJson(after) === undefined)) return after;
  throw new HoldfastError('hook-failed', `${label} must return a message of the role tool, as JSON.`);
}

function changed(scope: AgentScope, message: StoredMessage): StoredMessage {
  const after = throughAll(scope, message);
  return after === message ? message : { ...after, id: scope.run.ports.uuid() };
}

export function changedEnd(scope: AgentScope, result: ToolStepResult): ToolStepResult {
  const message = changed(scope, result.message);
  const shown = result.shown === undefined ? undefined : changed(scope, result.shown);
  if (message === result.message && shown === result.shown) return result;
  const error = result.error === undefined ? undefined : { ...result.error, message: textOfResult(message) };
  return { ...result, message, ...defined({ error, shown }) };
}

export function changedError(scope: AgentScope, call: Pick<ToolCall, 'id' | 'name'>, error: unknown): unknown {
  if (!isToolProblem(error)) return error;
  const said = toolMessage('', call, messageOf(error), { isError: true });
  const after = throughAll(scope, said);
  return after === said ? error : new ToolError({ ...failureOf(error), message: textOfResult(after) }, undefined);
}

function textOfResult({ parts: [part] }: Message): string {
  return part?.type === 'tool-result' && typeof part.output === 'string' ? part.output : '';
}
