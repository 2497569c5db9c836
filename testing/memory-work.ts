import { withCall } from '../activities/call-context';
import { generate } from '../activities/call-model';
import { ToolRetry, executeTool } from '../activities/call-tool';
import { modelVerdict } from '../activities/failures';
import type { WorkerParts } from '../activities/parts';
import { parseInput } from '../activities/parse-input';
import { manifestFor } from '../activities/prepare-run';
import { HoldfastError, codeOf, messageOf } from '../contract/plain/errors';
import type { CallModelResult, CallToolInput, CallToolResult } from '../contract/plain/wire';
import type { ModelFacts, ToolFacts } from '../contract/plain/manifest';
import type { MemoryCall, MemoryWork } from '../kernel/memory/work';

/** A tool call that could be lost, as when its worker dies. */
export interface LosableCall {
  readonly tool: string;
  readonly callId: string;
  readonly input: unknown;
  readonly attempt: number;
  /** The tool is asked whether it took effect, instead of being run. */
  readonly reconcile: boolean;
}

/** Loses a call before the tool ran, or after it did. */
export type LoseCall = (call: LosableCall) => 'before' | 'after' | undefined;

type Parts = Omit<WorkerParts, 'messages'>;

/** What a worker does for a run, in this process: the real registries, the real execution of models and tools. */
export function memoryWork(parts: Parts, lose: LoseCall): MemoryWork {
  return {
    prepare: async (request) => manifestFor(request, parts),
    parseInput: (request) => parseInput(parts.tools, request),
    callModel: (request, call) =>
      attempts(call, call.facts.attempts, async (attempt, signal): Promise<CallModelResult> => {
        const { address } = call;
        try {
          return { address, ...(await generate(request, parts, { agent: call.path.at(-1) ?? '', id: address, attempt, signal })) };
        } catch (error) {
          const { code, message, retryable } = modelVerdict(error);
          if (retryable) throw new Lost(code, message);
          return { address, failed: { code, message } };
        }
      }),
    callTool: (input, call) =>
      attempts(call, call.facts.effect === 'once' && input.reconcile !== true ? 1 : call.facts.attempts, (attempt, signal) =>
        toolAttempt(input, call, parts, lose, attempt, signal),
      ),
    settle: () => new Promise((resolve) => setImmediate(resolve)),
  };
}

async function toolAttempt(
  input: CallToolInput,
  call: MemoryCall<ToolFacts>,
  parts: Parts,
  lose: LoseCall,
  attempt: number,
  signal: AbortSignal,
): Promise<CallToolResult> {
  const { address, workflowId } = call;
  const { tool, callId } = input;
  const lost = lose({ tool, callId, input: input.input, attempt, reconcile: input.reconcile === true });
  if (lost === 'before') throw new Lost('tool-failed', `The worker of "${tool}" was lost before it ran.`);
  const execution = {
    idempotencyKey: `${workflowId}/${input.key ?? address}`,
    attempt,
    signal,
    call: { agent: call.path.at(-1) ?? '', id: address, attempt, signal, tool, callId },
  };
  try {
    const outcome = await executeTool(input, parts, execution);
    if (lost === 'after') throw new Lost('tool-failed', `The worker of "${tool}" was lost after it ran.`);
    return { address, outcome };
  } catch (error) {
    if (error instanceof Lost) throw error;
    throw new Lost(error instanceof ToolRetry ? 'tool-failed' : (codeOf(error) ?? 'tool-failed'), messageOf(error));
  }
}

/** An attempt that gave no result; the next one is made at once, as virtual time passes only by `advance`. */
class Lost extends HoldfastError {}

async function attempts<Result>(
  call: MemoryCall<ModelFacts | ToolFacts>,
  most: number,
  run: (attempt: number, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const abort = new AbortController();
  void call.cancelled.then(() => abort.abort());
  const activityType = 'effect' in call.facts ? 'callTool' : 'callModel';
  for (let attempt = 1; ; attempt++) {
    try {
      return await withCall({ workflowId: call.workflowId, runId: 'memory', activityId: call.address, activityType, attempt }, () =>
        run(attempt, abort.signal),
      );
    } catch (error) {
      if (attempt >= most || abort.signal.aborted) throw error;
    }
  }
}
