import { defined } from '../../contract/defined';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { DeltaBody } from '../../contract/deltas';
import { withoutCredentials } from '../../contract/credentials';
import { parseDuration } from '../../contract/duration';
import { HoldfastError, codeOf, messageOf, thrownCodeOf } from '../../contract/errors';
import { jsonSize, limits } from '../../contract/limits';
import type { Json } from '../../contract/messages/messages';
import { isPartList, notJson } from '../../contract/messages/messages';
import type { CallToolInput, ToolOutcome } from '../../contract/record/wire';
import type { Reconciled, ToolCallContext } from './define-tool';
import { ToolInterrupt } from './define-tool';
import { WrapWatch } from '../worker-middleware/wrap-guard';
import type { Late } from '../health/late-calls';
import type { Observers } from '../worker-middleware/observers';
import { StreamProblem, runTool } from './run-tool';
import { ToolDeltas } from './tool-deltas';
import type { RunAbout } from '../transcripts/start-store';
import { aboutNothing } from '../transcripts/start-store';
import type { AnyTool, ToolRegistry } from './tools';
import type { WorkerMiddlewareRegistry, ToolWorkerCall } from '../worker-middleware/worker-middleware';
import { isStop } from '../../kernel/effects/errors';

export interface ToolExecution {
  readonly idempotencyKey: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
  readonly call: Omit<ToolWorkerCall, 'options'>;
  /** What the run was started with. */
  readonly about?: RunAbout;
  /** Sees which worker middleware the call is in. */
  readonly watch?: WrapWatch;
  /** Shows what comes while the tool runs. Absent: nobody is to see it. */
  readonly publish?: (delta: DeltaBody) => void;
  /** Told of what the tool, or a worker middleware around it, threw. */
  readonly threw?: (error: unknown) => void;
  /** Told of what the tool asks for when the call has ended. */
  readonly late?: Late;
}

interface ToolParts {
  readonly tools: ToolRegistry;
  readonly middleware: WorkerMiddlewareRegistry;
  readonly observers?: Observers;
}

/** Thrown when a failed tool should be called once more. */
export class ToolRetry extends Error {}

/** One execution of a tool on the worker, worker middleware around it. What comes of it is an outcome, never an exception. */
export async function executeTool(input: CallToolInput, parts: ToolParts, execution: ToolExecution): Promise<ToolOutcome> {
  const tool = parts.tools.find(input.tool);
  if (tool === undefined) throw new HoldfastError('tool-unknown', `This worker has no tool "${input.tool}".`);
  const parsed = await parsedInput(input, parts.tools);
  if (!parsed.ok) return failed('tool-input-invalid', parsed.message);
  const deltas = new ToolDeltas(
    { callId: input.callId, tool: input.tool },
    input.hidden === true ? undefined : execution.publish,
    execution.late,
  );
  let outcome: ToolOutcome | undefined;
  try {
    outcome = await executed(tool, parsed, input, parts, execution, deltas);
    return outcome;
  } finally {
    deltas.end(outcome?.type === 'done');
  }
}

/** What a worker middleware does wrong itself is no error of the tool: it has a code that ends the run. */
async function executed(
  tool: AnyTool,
  parsed: CheckedInput & { readonly ok: true },
  input: CallToolInput,
  { tools, middleware, observers }: ToolParts,
  execution: ToolExecution,
  deltas: ToolDeltas,
): Promise<ToolOutcome> {
  let asked: ToolInterrupt | undefined;
  const context = contextOf(input, execution, deltas, (interrupt) => (asked = interrupt));
  const limit = tools.factsOf(input.tool)?.resultLimit ?? 0;
  if (input.reconcile === true) return reconcile(tool, parsed.value, context, input.tool, limit);
  try {
    const output = await runTool({
      tool,
      input: parsed,
      context,
      deltas,
      options: input.options ?? {},
      observers,
      call: execution.call,
      middleware: middleware.named(input.workerMiddleware ?? []),
      watch: execution.watch ?? new WrapWatch(),
      mode: input.stream ?? 'whole',
      resultLimit: limit,
    });
    return asked === undefined ? checkedOutput(output, tool, input.tool, limit) : interruptedBy(asked);
  } catch (error) {
    if (asked !== undefined) return interruptedBy(asked);
    if (thrownCodeOf(error) === 'worker-half-missing') throw error;
    if (error instanceof StreamProblem) return failed(error.code, `The tool '${input.tool}' ${error.message}`);
    const attempts = tool.effect === 'once' ? 1 : (tool.retry?.attempts ?? 1);
    if (execution.signal.aborted) throw error;
    if (!isStop(error)) execution.threw?.(error);
    // A worker middleware that leaves something running would do so again.
    if (thrownCodeOf(error) === 'next-left-running') return failed('next-left-running', messageOf(error));
    // Who stops the run does not want to be asked again.
    if (isStop(error)) return failed('stopped', messageOf(error));
    // The result is what it is, however often the tool is called.
    if (codeOf(error) === 'pii-found') return failed('pii-found', messageOf(error));
    if (execution.attempt < attempts) throw new ToolRetry(withoutCredentials(messageOf(error)));
    if (codeOf(error) === 'hook-failed') return failed('hook-failed', messageOf(error));
    return failed('tool-failed', `The tool '${input.tool}' failed: ${messageOf(error)}`);
  }
}

type CheckedInput = { readonly ok: true; readonly value: unknown; readonly json: Json } | { readonly ok: false; readonly message: string };

/** A call that a policy or a human saw runs with exactly those arguments, also when the schema has changed since. */
async function parsedInput(input: CallToolInput, tools: ToolRegistry): Promise<CheckedInput> {
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

/** Also under the names that tools of the AI SDK know. */
type ForeignCallContext = ToolCallContext & {
  readonly toolCallId: string;
  readonly messages: readonly never[];
  readonly abortSignal: AbortSignal;
};

function contextOf(
  input: CallToolInput,
  execution: ToolExecution,
  deltas: ToolDeltas,
  onInterrupt: (interrupt: ToolInterrupt) => void,
): ForeignCallContext {
  const { about = aboutNothing } = execution;
  return {
    callId: input.callId,
    toolCallId: input.callId,
    messages: [],
    idempotencyKey: execution.idempotencyKey,
    attempt: execution.attempt,
    signal: execution.signal,
    abortSignal: execution.signal,
    options: input.options ?? {},
    values: about.values,
    tags: about.tags,
    ...(input.resumed === undefined ? {} : { resumed: { answer: input.resumed.answer, state: input.resumed.state } }),
    runLocal: execution.call.runLocal,
    sendEvent: (name, data) => execution.call.sendEvent(name, data),
    progress: (data) => deltas.progress(data),
    interrupt(info, options) {
      // Nobody would catch it.
      if (!deltas.isOpen('call.interrupt')) return undefined as never;
      const interrupt = new ToolInterrupt(info, options);
      onInterrupt(interrupt);
      throw interrupt;
    },
  };
}

const interruptOptions: readonly string[] = ['state', 'answerSchema', 'deadline'];

/** Tools in plain JavaScript may give anything. What would do nothing is refused, so that somebody sees it. */
function misuseOfInterrupt(options: unknown): string | undefined {
  const there = `its options are an object with ${interruptOptions.join(', ')}`;
  if (typeof options !== 'object' || options === null || Array.isArray(options)) return there;
  const fields = options as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(fields).find((field) => !interruptOptions.includes(field) && fields[field] !== undefined);
  if (unknown !== undefined) return `there is no option "${unknown}"; ${there}`;
  const { answerSchema, deadline } = fields;
  if (deadline !== undefined && typeof deadline !== 'string') return 'its deadline is a duration as a text, such as "3d"';
  if (answerSchema === undefined || (typeof answerSchema === 'object' && answerSchema !== null && '_zod' in answerSchema)) return undefined;
  return 'its answerSchema is a schema of zod, such as z.string()';
}

function interruptedBy({ info, options }: ToolInterrupt): ToolOutcome {
  const misuse = misuseOfInterrupt(options);
  if (misuse !== undefined) return failed('tool-failed', `The interrupt of the tool was asked for wrongly: ${misuse}.`);
  const { state, answerSchema, deadline } = options;
  const problem = notJson(info) ?? (state === undefined ? undefined : notJson(state));
  if (problem !== undefined) return failed('value-not-json', `The interrupt of the tool is not JSON: ${problem}.`);
  for (const [what, value] of [
    ['info', info],
    ['state', state],
  ] as const) {
    const bytes = value === undefined ? 0 : jsonSize(value);
    if (bytes > limits.interrupt)
      return failed('tool-result-too-large', `The interrupt of the tool has ${bytes} bytes of ${what}; at most ${limits.interrupt} fit.`);
  }
  const deadlineMs = deadline === undefined ? undefined : parseDuration(deadline);
  if (deadline !== undefined && deadlineMs === undefined)
    return failed('tool-failed', `The interrupt of the tool has the deadline "${deadline}", which is no duration; write for example "3d".`);
  try {
    return {
      type: 'interrupted',
      info,
      ...defined({ state }),
      ...(answerSchema === undefined ? {} : { answerSchema: z.toJSONSchema(answerSchema) as Json }),
      ...defined({ deadlineMs }),
    };
  } catch (error) {
    return failed('tool-failed', `The answerSchema of the tool's interrupt cannot be told to a person: ${messageOf(error)}`);
  }
}

async function reconcile(tool: AnyTool, value: unknown, context: ToolCallContext, name: string, limit: number): Promise<ToolOutcome> {
  if (tool.reconcile === undefined) return { type: 'unsettled', said: 'nothing' };
  const said: Reconciled<unknown> = await tool.reconcile(value, context);
  if (said === 'unknown') return { type: 'unsettled', said };
  if (said.happened) return checkedOutput(said.result, tool, name, limit);
  return { type: 'undone' };
}

function checkedOutput(output: unknown, { enhanced }: AnyTool, name: string, limit: number): ToolOutcome {
  const value = output === undefined ? null : output;
  const problem = notJson(value);
  if (problem !== undefined) return failed('tool-result-invalid', `The tool '${name}' returned something that is not JSON: ${problem}.`);
  if (enhanced === true && !isPartList(value))
    return failed('tool-result-invalid', `The tool '${name}' is enhanced and returned no list of parts (texts and files).`);
  const bytes = jsonSize(value);
  if (bytes > limit) return failed('tool-result-too-large', `The tool '${name}' returned ${bytes} bytes; at most ${limit} are allowed.`);
  return { type: 'done', messageId: randomUUID(), output: value as Json, ...(enhanced === true ? { multipart: true } : {}) };
}

function failed(code: string, message: string): ToolOutcome {
  return { type: 'failed', messageId: randomUUID(), error: { code, message: withoutCredentials(message).slice(0, 65_536) } };
}
