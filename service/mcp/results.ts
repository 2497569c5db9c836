import { defined } from '../../contract/defined';
import type { ErrorCode } from '../../contract/errors';
import { errorTable, isErrorCode } from '../../contract/errors';
import type { RunHead } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import type { JsonObject } from '../../contract/messages/messages';
import { questionOf } from '../projection/answers';
import { textOfJson } from '../projection/content';

export interface ToolResult {
  readonly [key: string]: unknown;
  readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  readonly structuredContent: JsonObject;
  readonly isError?: true;
}

export function toolResult(text: string, structured: object, isError = false): ToolResult {
  const content = [{ type: 'text' as const, text }];
  return { content, structuredContent: structured as JsonObject, ...(isError ? { isError: true } : {}) };
}

export function jsonResult(structured: object): ToolResult {
  return toolResult(JSON.stringify(structured), structured);
}

export function errorResult(code: ErrorCode, message: string, runId?: string): ToolResult {
  const { fix } = errorTable[code];
  return toolResult(`${message} (${code}) ${fix}`, { error: { code, message, fix }, ...defined({ runId }) }, true);
}

/** The result of the call that waited for the run. A run that still works or waits is no error. */
export function runResult(view: RunHead): ToolResult {
  return toolResult(textOf(view), shownRun(view), view.status === 'failed' || view.status === 'stuck' || view.status === 'cancelled');
}

export function shownRun({ id, agent, status, output, text, error, interrupts, pendingToolCalls }: RunHead): object {
  const facts = defined({ output, text, error, pendingToolCalls });
  return { runId: id, agent, status, ...facts, ...(interrupts.length === 0 ? {} : { interrupts }) };
}

function textOf(view: RunHead): string {
  const { id, status, text, output = null, error, interrupts } = view;
  if (status === 'completed') return text !== undefined && text !== '' ? text : textOfJson(output);
  if (status === 'waiting') return [`The run "${id}" waits for an answer:`, ...interrupts.map(lineOf), toAnswer].join('\n');
  if (error !== undefined)
    return `The run "${id}" ${status === 'stuck' ? 'is stuck' : 'failed'}: ${error.message} (${error.code})${fixOf(error.code)}`;
  if (status === 'cancelled') return `The run "${id}" was cancelled.`;
  return `The run "${id}" goes on. Read it with get_run.`;
}

const toAnswer = 'Answer with answer_interrupt if a person has decided, or wait until somebody answers elsewhere: get_run shows it.';

function lineOf(interrupt: Interrupt): string {
  const about = interrupt.kind === 'approval' ? ` ${interrupt.tool} ${textOfJson(interrupt.input)}` : '';
  return `- ${interrupt.id} (${interrupt.kind}): ${questionOf(interrupt)}${about}`;
}

function fixOf(code: string): string {
  return isErrorCode(code) ? ` ${errorTable[code].fix}` : '';
}
