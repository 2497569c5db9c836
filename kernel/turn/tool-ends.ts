import { defined } from '../../contract/defined';
import { messageOf } from '../../contract/errors';
import type { Message, StoredMessage, ToolCall } from '../../contract/messages/messages';
import { toolMessage } from '../../contract/messages/messages';
import type { AgentMiddleware } from '../define/middleware';
import type { AgentScope } from '../run/scope';
import { isToolProblem } from '../effects/tool-problems';
import type { ToolStepResult } from './tool-step';
import { ToolError, failureOf } from '../effects/errors';

const mark = Symbol.for('holdfast.tool-ends');

/** Changes a message with what a call of a tool ended with; the message itself when it is to stay. */
export type ToolEndChange = (message: Message) => Message;

/**
 * A middleware that sees what calls of tools end with, whoever gave it: a tool, a layer, a person, another agent. It is asked at once and
 * last of all, before anything of it is shown, wherever the middleware stands.
 */
export function changingToolEnds(middleware: AgentMiddleware, change: ToolEndChange): AgentMiddleware {
  return Object.assign(middleware, { [mark]: change });
}

function changesOf({ agent }: AgentScope): readonly ToolEndChange[] {
  return agent.middleware.flatMap((middleware) => {
    const change = (middleware as unknown as Record<symbol, unknown>)[mark];
    return change === undefined ? [] : [change as ToolEndChange];
  });
}

/** Content under an id never changes: what is changed gets another one. */
function changed(scope: AgentScope, message: StoredMessage): StoredMessage {
  const after = changesOf(scope).reduce<Message>((before, change) => change(before), message);
  return after === message ? message : { ...after, id: scope.run.ports.uuid() };
}

export function changedEnd(scope: AgentScope, result: ToolStepResult): ToolStepResult {
  const message = changed(scope, result.message);
  const shown = result.shown === undefined ? undefined : changed(scope, result.shown);
  if (message === result.message && shown === result.shown) return result;
  const error = result.error === undefined ? undefined : { ...result.error, message: textOfResult(message) };
  return { ...result, message, ...defined({ error, shown }) };
}

/** The same for an error with which the agent ends. */
export function changedError(scope: AgentScope, call: Pick<ToolCall, 'id' | 'name'>, error: unknown): unknown {
  if (!isToolProblem(error)) return error;
  const said = toolMessage('', call, messageOf(error), { isError: true });
  const after = changesOf(scope).reduce<Message>((before, change) => change(before), said);
  return after === said ? error : new ToolError({ ...failureOf(error), message: textOfResult(after) }, undefined);
}

function textOfResult({ parts: [part] }: Message): string {
  return part?.type === 'tool-result' && typeof part.output === 'string' ? part.output : '';
}
