import { defined } from '../../contract/defined';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Forms } from '../../contract/check';
import { anything, duration, form, isRecord, misfit, problemOfFields, sentence } from '../../contract/check';
import type { Author } from '../../contract/access';
import type { DeltaBody } from '../../contract/deltas';
import { withoutCredentials } from '../../contract/credentials';
import { parseDuration } from '../../contract/duration';
import { HoldfastError, codeOf, messageOf, thrownCodeOf } from '../../contract/errors';
import { frozen } from '../../contract/freeze';
import { jsonSize, limits } from '../../contract/limits';
import type { Json } from '../../contract/messages/messages';
import { isPartList, notJson } from '../../contract/messages/messages';
import { tenantOf } from '../../contract/names';
import { agentOfPath } from '../../contract/record/agent-paths';
import type { CallToolInput, CallToolResult, ToolOutcome } from '../../contract/record/wire';
import type { RunLocalValues } from '../../contract/run-local';
import type { CallPrincipal, Reconciled, ToolCallContext } from './define-tool';
import { LostAnswer, lostAnswer } from './cut-off';
import { ToolInterrupt } from './define-tool';
import { WrapWatch } from '../worker-middleware/wrap-guard';
import { withValues } from '../calls/call-context';
import { CallValues } from '../calls/call-values';
import { lateIn } from '../health/late-calls';
import type { Observers } from '../worker-middleware/observers';
import type { ToolRun } from './run-tool';
import { StreamProblem, runTool } from './run-tool';
import { ToolDeltas } from './tool-deltas';
import type { RunAbout } from '../transcripts/start-store';
import { isZod } from '../schemas/schema';
import type { AnyTool, ToolRegistry } from './tools';
import type { WorkerMiddlewareRegistry, ToolWorkerCall } from '../worker-middleware/worker-middleware';
import { isStop } from '../../kernel/effects/errors';

interface AttemptFacts {
  readonly workflowId: string;
  readonly address: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
  /** Absent: the call has no readers. */
  readonly publish?: ((delta: DeltaBody) => void) | undefined;
  readonly threw?: (error: unknown) => void;
}

interface ToolParts {
  readonly tools: ToolRegistry;
  readonly middleware: WorkerMiddlewareRegistry;
  readonly observers?: Observers;
  readonly onProblem?: (problem: HoldfastError) => void;
}

export class ToolRetry extends Error {}

/** In-memory runs use the class, too, so no Temporal is allowed. */
export class ToolAttempt {
  readonly watch = new WrapWatch();
  private readonly values: CallValues;
  private readonly deltas: ToolDeltas;
  private readonly over = new AbortController();
  private asked: ToolInterrupt | undefined;

  constructor(
    private readonly input: CallToolInput,
    private readonly parts: ToolParts,
    private readonly facts: AttemptFacts,
  ) {
    const { tool, callId, hidden } = input;
    const late = lateIn({ ...facts, tool }, parts.onProblem);
    this.values = new CallValues(late);
    this.deltas = new ToolDeltas({ callId, tool }, hidden === true ? undefined : facts.publish, late);
  }

  /** An exception means an attempt without an outcome. */
  run(values: RunLocalValues, about: RunAbout): Promise<ToolOutcome> {
    this.values.begin(values);
    return withValues(this.values, () => this.execute(about));
  }

  result(outcome: ToolOutcome): CallToolResult {
    return { address: this.facts.address, outcome, ...this.watch.noted, ...this.values.end() };
  }

  drop(): void {
    this.values.drop();
    this.over.abort(new Error('The time of the call is up.'));
  }

  private async execute(about: RunAbout): Promise<ToolOutcome> {
    const tool = this.parts.tools.find(this.input.tool);
    if (tool === undefined) throw new HoldfastError('tool-unknown', `This worker has no tool "${this.input.tool}".`);
    const parsed = await parsedInput(this.input, this.parts.tools);
    if (!parsed.ok) return failed('tool-input-invalid', parsed.message);
    let outcome: ToolOutcome | undefined;
    try {
      const context = this.context(about);
      outcome = await (this.input.reconcile === true ? this.reconcile(tool, parsed.value, context) : this.called(tool, parsed, context));
      return outcome;
    } finally {
      this.deltas.end(outcome?.type === 'done');
    }
  }

  private async called(tool: AnyTool, parsed: ToolRun['input'], context: ToolCallContext): Promise<ToolOutcome> {
    const { input, parts } = this;
    try {
      const output = await runTool({
        tool,
        input: parsed,
        context,
        deltas: this.deltas,
        options: input.options ?? {},
        observers: parts.observers,
        call: this.workerCall,
        middleware: parts.middleware.named(input.workerMiddleware ?? []),
        watch: this.watch,
        mode: input.stream ?? 'whole',
        resultLimit: this.resultLimit,
      });
      return this.asked === undefined ? this.checked(output, tool) : interruptedBy(this.asked);
    } catch (error) {
      return this.failedBy(error, tool);
    }
  }

  /** A worker middleware's mistake does not count as the tool's error, and ends the run with its code. */
  private failedBy(error: unknown, tool: AnyTool): ToolOutcome {
    const { attempt, signal, threw } = this.facts;
    if (this.asked !== undefined) return interruptedBy(this.asked);
    if (thrownCodeOf(error) === 'worker-half-missing') throw error;
    if (error instanceof LostAnswer) return lostAnswer(error, this.input, tool);
    if (error instanceof StreamProblem) return failed(error.code, `The tool '${this.input.tool}' ${error.message}`);
    if (signal.aborted) throw error;
    if (!isStop(error)) threw?.(error);
    // Another attempt would leave the same `next` running.
    if (thrownCodeOf(error) === 'next-left-running') return failed('next-left-running', messageOf(error));
    if (isStop(error)) return failed('stopped', messageOf(error));
    // Another call of the tool would give the same result.
    if (codeOf(error) === 'pii-found') return failed('pii-found', messageOf(error));
    const attempts = tool.effect === 'once' ? 1 : (tool.retry?.attempts ?? 1);
    if (attempt < attempts) throw new ToolRetry(withoutCredentials(messageOf(error)));
    if (codeOf(error) === 'hook-failed') return failed('hook-failed', messageOf(error));
    return failed('tool-failed', `The tool '${this.input.tool}' failed: ${messageOf(error)}`);
  }

  private async reconcile(tool: AnyTool, value: unknown, context: ToolCallContext): Promise<ToolOutcome> {
    if (tool.reconcile === undefined) return { type: 'unsettled', said: 'nothing' };
    const said: Reconciled<unknown> = await tool.reconcile(value, context);
    if (said === 'unknown') return { type: 'unsettled', said };
    if (said.happened) return this.checked(said.result, tool);
    return { type: 'undone' };
  }

  private checked(output: unknown, { enhanced }: AnyTool): ToolOutcome {
    const { tool: name } = this.input;
    const limit = this.resultLimit;
    const value = output === undefined ? null : output;
    const problem = notJson(value);
    if (problem !== undefined) return failed('tool-result-invalid', `The tool '${name}' returned something that is not JSON: ${problem}.`);
    if (enhanced === true && !isPartList(value))
      return failed('tool-result-invalid', `The tool '${name}' is enhanced and returned no list of parts (texts and files).`);
    const bytes = jsonSize(value);
    if (bytes > limit) return failed('tool-result-too-large', `The tool '${name}' returned ${bytes} bytes; at most ${limit} are allowed.`);
    return { type: 'done', messageId: randomUUID(), output: value as Json, ...(enhanced === true ? { multipart: true } : {}) };
  }

  private get resultLimit(): number {
    return this.parts.tools.factsOf(this.input.tool)?.resultLimit ?? 0;
  }

  private get workerCall(): Omit<ToolWorkerCall, 'options'> {
    const { address, attempt, signal } = this.facts;
    const { path, tool, callId } = this.input;
    return { agent: agentOfPath(path), id: address, attempt, signal, tool, callId, ...this.values.access() };
  }

  private context(about: RunAbout): ForeignCallContext {
    const { workflowId, address, attempt } = this.facts;
    const { callId, key, options = {}, resumed, author = about, mcp } = this.input;
    // A call that waits for its connection must not be made after the person was asked about it.
    const signal = mcp === undefined ? this.facts.signal : AbortSignal.any([this.facts.signal, this.over.signal]);
    return {
      callId,
      toolCallId: callId,
      messages: [],
      idempotencyKey: `${workflowId}/${key ?? address}`,
      attempt,
      signal,
      abortSignal: signal,
      options,
      values: about.values,
      tags: about.tags,
      principal: principalOf(tenantOf(workflowId), author),
      ...(resumed === undefined ? {} : { resumed: { answer: resumed.answer, state: resumed.state } }),
      ...this.values.access(),
      progress: (data) => this.deltas.progress(data),
      interrupt: (info, ofInterrupt) => {
        // A late caller would not catch an error.
        if (!this.deltas.isOpen('call.interrupt')) return undefined as never;
        this.asked = new ToolInterrupt(info, ofInterrupt);
        throw this.asked;
      },
    };
  }
}

function principalOf(tenant: string, { by: user, roles, proof }: Author): CallPrincipal {
  return frozen({ tenant, ...defined({ user, roles, proof }) });
}

type CheckedInput = { readonly ok: true; readonly value: unknown; readonly json: Json } | { readonly ok: false; readonly message: string };

/** After a decision of a policy or a human, a call runs with exactly the decided arguments, even if the schema has changed. */
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

type ForeignCallContext = ToolCallContext & {
  readonly toolCallId: string;
  readonly messages: readonly never[];
  readonly abortSignal: AbortSignal;
};

const interruptForms: Forms = {
  state: anything,
  answerSchema: form(isZod, 'a schema of zod, such as z.string()'),
  deadline: duration,
};

function interruptedBy({ info, options }: ToolInterrupt): ToolOutcome {
  // Plain JavaScript may give any value.
  const misuse = isRecord(options)
    ? problemOfFields(defined(options), interruptForms)
    : misfit('the second argument', 'an object', options);
  if (misuse !== undefined) return failed('tool-failed', `The interrupt of the tool was asked for wrongly: ${sentence(misuse)}`);
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
  try {
    return {
      type: 'interrupted',
      info,
      ...defined({ state }),
      ...(answerSchema === undefined ? {} : { answerSchema: z.toJSONSchema(answerSchema) as Json }),
      ...defined({ deadlineMs: deadline === undefined ? undefined : parseDuration(deadline) }),
    };
  } catch (error) {
    return failed('tool-failed', `The answerSchema of the tool's interrupt cannot be told to a person: ${messageOf(error)}`);
  }
}

function failed(code: string, message: string): ToolOutcome {
  return { type: 'failed', messageId: randomUUID(), error: { code, message: withoutCredentials(message).slice(0, 65_536) } };
}
