import { defined } from '../../contract/defined';
import type { ErrorCode } from '../../contract/errors';
import { errorTable, isErrorCode } from '../../contract/errors';
import type { RunHead } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import type { JsonObject } from '../../contract/messages/messages';
import { noWorkerText } from '../../contract/no-worker';
import { answerSchemaOf, questionOf } from '../projection/answers';
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
export async function runResult(view: RunHead, caller: McpCaller, hasAnswered = false): Promise<ToolResult> {
  const shown = await shownRun(view, caller, hasAnswered);
  return toolResult(textOf(view, shown), shown, view.status === 'failed' || view.status === 'stuck' || view.status === 'cancelled');
}

interface ShownRun {
  readonly statusMessage?: string;
  readonly error?: { readonly code: string; readonly message: string; readonly fix?: string };
}

export async function shownRun(view: RunHead, caller: McpCaller, hasAnswered = false): Promise<ShownRun> {
  const { id, agent, status, output, text, pendingToolCalls, retrying } = view;
  const interrupts = view.interrupts.map((one) => ({ ...one, ...defined({ answerSchema: answerSchemaOf(one) }) }));
  const error = view.error && { ...view.error, ...(isErrorCode(view.error.code) ? { fix: errorTable[view.error.code].fix } : {}) };
  const facts = defined({ output, text, error, pendingToolCalls, retrying, statusMessage: await statusOf(view, caller, hasAnswered) });
  return { runId: id, agent, status, ...facts, ...(interrupts.length === 0 ? {} : { interrupts }) } as ShownRun;
}

/** Why nothing happens, or what the client can do. */
async function statusOf(
  { id, status, interrupts, retrying = [] }: RunHead,
  caller: McpCaller,
  hasAnswered: boolean,
): Promise<string | undefined> {
  if (status === 'waiting') {
    const refusal = whyClosed(caller, interrupts);
    return refusal === undefined
      ? toAnswer
      : `Wait until somebody else answers: get_run shows it. Your answer would be refused: ${refusal}`;
  }
  if (status === 'idle') return `The conversation "${id}" waits for a message.`;
  if (status !== 'running') return undefined;
  const noWorker = await inTime(caller, () => caller.client.noWorker());
  const told = [
    hasAnswered ? 'The answer is accepted.' : '',
    `The run "${id}" goes on. Read it with get_run.`,
    noWorker && noWorkerText(noWorker),
    ...retrying.map(({ address, attempt, error }) => `Attempt ${attempt} of ${address} follows ${error.code}: ${error.message}`),
  ];
  return told.filter(Boolean).join(' ');
}

function textOf(view: RunHead, { statusMessage = '', error }: ShownRun): string {
  const { id, status, text, output = null, interrupts } = view;
  if (status === 'completed') return text !== undefined && text !== '' ? text : textOfJson(output);
  if (status === 'waiting') return [`The run "${id}" waits for an answer:`, ...interrupts.map(lineOf), statusMessage].join('\n');
  if (error !== undefined)
    return [`The run "${id}" ${status === 'stuck' ? 'is stuck' : 'failed'}: ${error.message} (${error.code})`, error.fix].join(' ').trim();
  return status === 'cancelled' ? `The run "${id}" was cancelled.` : statusMessage;
}

const toAnswer = 'Answer with answer_interrupt if a person has decided, or wait until somebody answers elsewhere: get_run shows it.';

function lineOf(interrupt: Interrupt): string {
  const about = interrupt.kind === 'approval' ? ` ${interrupt.tool} ${textOfJson(interrupt.input)}` : '';
  return `- ${interrupt.id} (${interrupt.kind}): ${questionOf(interrupt)}${about}`;
}
