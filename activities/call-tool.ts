import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { parseDuration } from '../contract/plain/duration';
import { HoldfastError, codeOf, messageOf } from '../contract/plain/errors';
import { jsonSize } from '../contract/plain/limits';
import type { Json } from '../contract/plain/messages';
import { notJson } from '../contract/plain/messages';
import type { CallToolInput, ToolOutcome } from '../contract/plain/wire';
import type { Reconciled, Tool, ToolCallContext, ToolRegistry } from './tools';
import { ToolInterrupt } from './tools';
import type { HalfRegistry, ToolWorkerCall } from './worker-middleware';
import { wrapAround } from './worker-middleware';

export interface ToolExecution {
  readonly idempotencyKey: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
  readonly call: ToolWorkerCall;
}

/** Thrown when a failed tool should be called once more. */
export class ToolRetry extends Error {}

/** One execution of a tool on the worker, worker halves around it. What comes of it is an outcome, never an exception. */
export async function executeTool(
  input: CallToolInput,
  parts: { readonly tools: ToolRegistry; readonly halves: HalfRegistry },
  execution: ToolExecution,
): Promise<ToolOutcome> {
  const tool = parts.tools.find(input.tool);
  if (tool === undefined) throw new HoldfastError('tool-unknown', `This worker has no tool "${input.tool}".`);
  const parsed = await parsedInput(input, parts.tools);
  if (!parsed.ok) return failed('tool-input-invalid', parsed.message);
  let asked: ToolInterrupt | undefined;
  const context = contextOf(input, execution, (interrupt) => (asked = interrupt));
  if (input.reconcile === true) return reconcile(tool, parsed.value, context, input, parts.tools);
  try {
    const output = await throughHalves(tool, parsed, context, input, parts.halves, execution);
    if (asked !== undefined) return interruptedBy(asked);
    return checkedOutput(output, input.tool, parts.tools);
  } catch (error) {
    if (asked !== undefined) return interruptedBy(asked);
    if (codeOf(error) === 'worker-half-missing') throw error;
    const attempts = tool.effect === 'once' ? 1 : (tool.retry?.attempts ?? 1);
    if (execution.signal.aborted) throw error;
    if (execution.attempt < attempts) throw new ToolRetry(messageOf(error));
    return failed('tool-failed', `The tool '${input.tool}' failed: ${messageOf(error)}`);
  }
}

type Parsed = { readonly ok: true; readonly value: unknown; readonly json: Json } | { readonly ok: false; readonly message: string };

/** A call that a policy or a human saw runs with exactly those arguments, also when the schema has changed since. */
async function parsedInput(input: CallToolInput, tools: ToolRegistry): Promise<Parsed> {
  const parsed = await tools.parse(input.tool, input.input);
  if (input.inputHash === undefined) return parsed;
  if (parsed.ok && parsed.hash === input.inputHash) return parsed;
  if (input.rawInput !== undefined) {
    const fromRaw = await tools.parse(input.tool, input.rawInput);
    if (fromRaw.ok && fromRaw.hash === input.inputHash) return fromRaw;
  }
  return {
    ok: false,
    message: `The arguments of '${input.tool}' no longer mean what was decided about: its input schema changed in between.`,
  };
}

async function throughHalves(
  tool: Tool<unknown, unknown>,
  parsed: { readonly value: unknown; readonly json: Json },
  context: ToolCallContext,
  input: CallToolInput,
  halves: HalfRegistry,
  execution: ToolExecution,
): Promise<unknown> {
  const wraps = halves
    .of(input.halves ?? [])
    .flatMap((half) => (half.wrapInvokableToolCall === undefined ? [] : [half.wrapInvokableToolCall.bind(half)]));
  if (wraps.length === 0) return tool.execute(parsed.value, context);
  const run = wrapAround<Json, Json>(
    wraps.map((wrap) => (json, next) => wrap(json, next, execution.call)),
    async (json) => (await tool.execute(json === parsed.json ? parsed.value : json, context)) as Json,
  );
  return run(parsed.json);
}

function contextOf(input: CallToolInput, execution: ToolExecution, onInterrupt: (interrupt: ToolInterrupt) => void): ToolCallContext {
  return {
    callId: input.callId,
    idempotencyKey: execution.idempotencyKey,
    attempt: execution.attempt,
    signal: execution.signal,
    ...(input.resumed === undefined ? {} : { resumed: { answer: input.resumed.answer, state: input.resumed.state } }),
    interrupt(info, options) {
      const interrupt = new ToolInterrupt(info, options);
      onInterrupt(interrupt);
      throw interrupt;
    },
  };
}

function interruptedBy({ info, options }: ToolInterrupt): ToolOutcome {
  const problem = notJson(info) ?? (options.state === undefined ? undefined : notJson(options.state));
  if (problem !== undefined) return failed('value-not-json', `The interrupt of the tool is not JSON: ${problem}.`);
  const deadlineMs = options.deadline === undefined ? undefined : parseDuration(options.deadline);
  return {
    type: 'interrupted',
    info,
    ...(options.state === undefined ? {} : { state: options.state }),
    ...(options.answerSchema === undefined ? {} : { answerSchema: z.toJSONSchema(options.answerSchema) as Json }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  };
}

async function reconcile(
  tool: Tool<unknown, unknown>,
  value: unknown,
  context: ToolCallContext,
  input: CallToolInput,
  tools: ToolRegistry,
): Promise<ToolOutcome> {
  if (tool.reconcile === undefined) return { type: 'unsettled' };
  const said: Reconciled<unknown> = await tool.reconcile(value, context);
  if (said === 'unknown') return { type: 'unsettled' };
  if (said.happened) return checkedOutput(said.result, input.tool, tools);
  return { type: 'undone' };
}

function checkedOutput(output: unknown, name: string, tools: ToolRegistry): ToolOutcome {
  const value = output === undefined ? null : output;
  const problem = notJson(value);
  if (problem !== undefined) return failed('tool-result-invalid', `The tool '${name}' returned something that is not JSON: ${problem}.`);
  const bytes = jsonSize(value);
  const limit = tools.factsOf(name)?.resultLimit ?? 0;
  if (bytes > limit) return failed('tool-result-too-large', `The tool '${name}' returned ${bytes} bytes; at most ${limit} are allowed.`);
  return { type: 'done', messageId: randomUUID(), output: value as Json };
}

function failed(code: string, message: string): ToolOutcome {
  return { type: 'failed', messageId: randomUUID(), error: { code, message: message.slice(0, 65_536) } };
}
