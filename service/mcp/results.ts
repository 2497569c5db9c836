import { defined } from '../../contract/defined';
import type { ErrorCode } from '../../contract/errors';
import { errorTable, isErrorCode } from '../../contract/errors';
import type { RunHead, RunStatus } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import type { JsonObject } from '../../contract/messages/messages';
import { noWorkerText } from '../../contract/no-worker';
import { questionOf } from '../projection/answers';
import { textOfJson } from '../projection/content';
import { whyClosed } from './answering';
import type { McpCaller } from './caller';
import { inTime } from './caller';

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
export async function runResult(view: RunHead, caller: McpCaller): Promise<ToolResult> {
  const shown = await shownRun(view, caller);
  return toolResult(textOf(view, shown), shown, view.status === 'failed' || view.status === 'stuck' || view.status === 'cancelled');
}

interface ShownRun {
  readonly statusMessage?: string;
  readonly error?: { readonly code: string; readonly message: string; readonly fix?: string };
}

export async function shownRun(view: RunHead, caller: McpCaller): Promise<ShownRun> {
  const { id, agent, status, output, text, interrupts, pendingToolCalls } = view;
  const error = view.error && { ...view.error, ...(isErrorCode(view.error.code) ? { fix: errorTable[view.error.code].fix } : {}) };
  const facts = defined({ output, text, error, pendingToolCalls, statusMessage: await statusOf(view, caller) });
  return { runId: id, agent, status, ...facts, ...(interrupts.length === 0 ? {} : { interrupts }) } as ShownRun;
}

const doings: Partial<Record<RunStatus, string>> = {
  running: 'goes on. Read it with get_run.',
  waiting: 'has its answer, and goes on when a worker takes it. Do not ask again. Read it with get_run.',
  idle: 'waits for the next message.',
};

/** Why nothing happens, or what the client can do. */
async function statusOf({ id, status, interrupts }: RunHead, caller: McpCaller): Promise<string | undefined> {
  if (status === 'waiting' && interrupts.length > 0) {
    const refusal = whyClosed(caller, interrupts);
    return refusal === undefined
      ? toAnswer
      : `Wait until somebody else answers: get_run shows it. Your answer would be refused: ${refusal}`;
  }
  const does = doings[status];
  if (does === undefined) return undefined;
  const noWorker = status === 'idle' ? undefined : await inTime(caller, () => caller.client.noWorker());
  return [`The run "${id}" ${does}`, ...(noWorker === undefined ? [] : [noWorkerText(noWorker)])].join(' ');
}

function textOf(view: RunHead, { statusMessage = '', error }: ShownRun): string {
  const { id, status, text, output = null, interrupts } = view;
  if (status === 'completed') return text !== undefined && text !== '' ? text : textOfJson(output);
  if (status === 'waiting' && interrupts.length > 0)
    return [`The run "${id}" waits for an answer:`, ...interrupts.map(lineOf), statusMessage].join('\n');
  if (error !== undefined)
    return [`The run "${id}" ${status === 'stuck' ? 'is stuck' : 'failed'}: ${error.message} (${error.code})`, error.fix].join(' ').trim();
  return status === 'cancelled' ? `The run "${id}" was cancelled.` : statusMessage;
}

const toAnswer = 'Answer with answer_interrupt if a person has decided, or wait until somebody answers elsewhere: get_run shows it.';

function lineOf(interrupt: Interrupt): string {
  const about = interrupt.kind === 'approval' ? ` ${interrupt.tool} ${textOfJson(interrupt.input)}` : '';
  return `- ${interrupt.id} (${interrupt.kind}): ${questionOf(interrupt)}${about}`;
}
