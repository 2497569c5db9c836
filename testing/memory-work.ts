import { withCall, withValues } from '../activities/calls/call-context';
import { generate } from '../activities/models/call-model';
import { ToolAttempt, ToolRetry } from '../activities/tools/tool-attempt';
import { cutOff } from '../activities/tools/cut-off';
import { CallValues } from '../activities/calls/call-values';
import type { BrokenAnswer, Verdict } from '../activities/failures';
import { classify, failedResult } from '../activities/failures';
import { Patience } from '../activities/limits/patience';
import { WrapWatch } from '../activities/worker-middleware/wrap-guard';
import { lateIn } from '../activities/health/late-calls';
import { LiveCall } from '../activities/health/live-call';
import type { WorkerParts } from '../activities/parts';
import { partsForCall } from '../activities/parts';
import { planOf } from '../activities/policies';
import { parseInput } from '../activities/schemas/parse-calls';
import { aboutOf } from '../activities/transcripts/start-store';
import { manifestFor } from '../activities/prepare-run';
import { agentOfPath } from '../contract/record/agent-paths';
import type { Delta } from '../contract/deltas';
import { HoldfastError, messageOf, thrownCodeOf } from '../contract/errors';
import { outOfTime } from '../kernel/calls/lost-calls';
import type { CallModelResult, CallToolInput, CallWaits, CallToolResult, ToolOutcome } from '../contract/record/wire';
import type { ModelFacts, ToolFacts } from '../contract/manifest';
import type { MemoryCall, MemoryWork } from './memory/work';

export interface LosableCall {
  readonly tool: string;
  readonly callId: string;
  readonly input: unknown;
  readonly attempt: number;
  /** Asks whether the call took effect, instead of running the tool. */
  readonly reconcile: boolean;
}

/** Loses a call before or after the tool runs. */
export type LoseCall = (call: LosableCall) => 'before' | 'after' | undefined;

type MemoryParts = Omit<WorkerParts, 'messages' | 'deltas'>;

interface MemoryWorker {
  readonly parts: MemoryParts;
  readonly lose: LoseCall;
  readonly onDelta: (delta: Delta) => void;
}

export function memoryWork(parts: MemoryParts, lose: LoseCall, onDelta: (delta: Delta) => void = () => undefined): MemoryWork {
  /** The last visible model call of each message. */
  const answered = new Map<string, { readonly workflowId: string; readonly live: LiveCall }>();
  const turns = new ToolTurns();
  const worker = { parts, lose, onDelta };
  return {
    prepare: async (request) => manifestFor(request, parts),
    parseInput: (request) => parseInput(parts.tools, request),
    planPolicy: async (request) => planOf(parts.policies, request),
    parseOutput: ({ output, text }) => parts.outputs.parse(output, text),
    callModel: (request, call) =>
      modelAttempts(call, async (attempt, signal, waits): Promise<CallModelResult> => {
        const { address } = call;
        const waited = waits.times === 0 ? {} : { waited: waits };
        const live = liveCall(call, attempt, onDelta);
        // The model is asked again, so the deltas of the rejected answer become void.
        const { workflowId } = call;
        const message = messageAt(workflowId, address);
        answered.get(message)?.live.void();
        answered.delete(message);
        const { stream, retries } = request.slots;
        const watch = new WrapWatch();
        const values = new CallValues(lateIn(call, parts.onProblem));
        values.begin(call.values);
        let left: BrokenAnswer | undefined;
        try {
          const asked = { agent: agentOfPath(call.path), id: address, attempt, signal, ...values.access() };
          const publish = stream === 'live' ? live.publish : undefined;
          const answer = await watch.inTime(call.facts.timeoutMs, () =>
            withValues(values, () => generate(request, parts, asked, { publish, onBreak: (broken) => (left = broken), watch })),
          );
          answered.set(message, { workflowId, live });
          return { address, ...answer, ...waited, ...watch.noted, ...values.end() };
        } catch (error) {
          live.void();
          const changes = values.end();
          const verdict = classify(error);
          const failed = failedResult(verdict, retries, left);
          const brought = { ...waited, ...watch.noted, ...changes };
          if (failed === undefined) throw new LostModelAttempt(verdict, brought);
          return { address, ...failed, ...brought };
        }
      }),
    callTool: (input, call) =>
      attempts(call, call.facts.effect === 'once' && input.reconcile !== true ? 1 : call.facts.attempts, (attempt, signal) =>
        turns.take(input.tool, limitOf(parts, input), signal, () =>
          inTime(input.tool, call.facts.timeoutMs, signal, (inner) =>
            toolAttempt({ ...worker, parts: partsForCall(parts, input) }, input, call, { attempt, signal: inner }),
          ),
        ),
      ),
    ending(workflowId, told) {
      for (const address of told) answered.delete(messageAt(workflowId, address));
      for (const [message, one] of answered) {
        if (one.workflowId !== workflowId) continue;
        answered.delete(message);
        one.live.void();
      }
    },
    settle: () => new Promise((resolve) => setImmediate(resolve)),
  };
}

/** A reconcile call needs no turn. */
function limitOf({ tools }: MemoryParts, { tool, reconcile }: CallToolInput): number | undefined {
  return reconcile === true ? undefined : tools.factsOf(tool)?.concurrency;
}

function messageAt(workflowId: string, address: string): string {
  return `${workflowId} ${address.replace(/\.\d+$/, '')}`;
}

async function toolAttempt(
  { parts, lose, onDelta }: MemoryWorker,
  input: CallToolInput,
  call: MemoryCall<ToolFacts>,
  { attempt, signal }: { readonly attempt: number; readonly signal: AbortSignal },
): Promise<CallToolResult> {
  const { address, workflowId } = call;
  const { tool, callId } = input;
  const asked = { tool, callId, input: input.input, attempt, reconcile: input.reconcile === true };
  // No worker is asked without a `reconcile`.
  const lost = asked.reconcile && parts.tools.find(tool)?.reconcile === undefined ? undefined : lose(asked);
  if (lost === 'before') throw new LostAttempt('tool-failed', `The worker of "${tool}" was lost before it ran.`);
  const live = input.hidden !== true ? liveCall(call, attempt, onDelta) : undefined;
  const made = new ToolAttempt(input, parts, { workflowId, address, attempt, signal, publish: live?.publish });
  try {
    const work = (): Promise<ToolOutcome> => made.run(call.values, aboutOf(call.start));
    const outcome = await (call.facts.effect === 'once' ? work() : made.watch.inTime(call.facts.timeoutMs, work));
    if (lost === 'after') throw new LostAttempt('tool-failed', `The worker of "${tool}" was lost after it ran.`);
    return made.result(outcome);
  } catch (error) {
    made.drop();
    if (error instanceof LostAttempt) throw error;
    live?.void();
    if (call.facts.effect === 'once' && input.reconcile !== true && signal.aborted) return { address, outcome: cutOff(error) };
    throw new LostAttempt(error instanceof ToolRetry ? 'tool-failed' : (thrownCodeOf(error) ?? 'tool-failed'), messageOf(error));
  }
}

function liveCall({ address, path }: MemoryCall<unknown>, attempt: number, onDelta: (delta: Delta) => void): LiveCall {
  const sink = { publish: (_: string, delta: Delta) => onDelta(delta), settle: () => undefined };
  return new LiveCall(sink, 'memory', { agent: agentOfPath(path), runPath: path, address, attempt });
}

/** The timeout passes in real time, because the tool works in real time. */
async function inTime<Result>(
  tool: string,
  timeoutMs: number,
  cancelled: AbortSignal,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new LostAttempt('tool-timeout', outOfTime(tool, timeoutMs)));
      late.abort();
    }, timeoutMs);
    cancelled.addEventListener('abort', () => timer?.unref(), { once: true });
  });
  const running = run(AbortSignal.any([cancelled, late.signal]));
  running.catch(() => undefined);
  try {
    return await Promise.race([running, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** The next attempt begins at once, because only `advance` moves virtual time. */
class LostAttempt extends HoldfastError {}

class LostModelAttempt extends LostAttempt {
  constructor(
    readonly verdict: Verdict,
    readonly brought: Partial<CallModelResult>,
  ) {
    super(verdict.code, verdict.message);
  }
}

/** Virtual time passes while a provider is busy. */
async function modelAttempts(
  call: MemoryCall<ModelFacts>,
  run: (attempt: number, signal: AbortSignal, waits: CallWaits) => Promise<CallModelResult>,
): Promise<CallModelResult> {
  const { address, facts } = call;
  let waits: CallWaits = { times: 0, turnMs: 0, busyMs: 0 };
  const one = async (attempt: number, signal: AbortSignal): Promise<CallModelResult> => {
    for (;;) {
      try {
        return await run(attempt, signal, waits);
      } catch (error) {
        if (!(error instanceof LostModelAttempt) || signal.aborted) throw error;
        const { verdict, brought } = error;
        const info = { attempt: attempt + waits.times, heartbeatDetails: waits, retryPolicy: {} };
        const patience = new Patience(info, facts.attempts, facts.patienceMs);
        const again = patience.after(verdict);
        if ('over' in again) return { address, failed: patience.failed(again.over, verdict), ...brought };
        if (verdict.waitsFor !== 'provider') throw error;
        await call.wait(again.waitMs);
        waits = again.waits;
      }
    }
  };
  return attempts(call, facts.attempts, one);
}

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

interface Line {
  atWork: number;
  readonly waiting: Set<() => void>;
}

/** First come, first served. */
export class ToolTurns {
  private readonly lines = new Map<string, Line>();

  /** A call that is cancelled while waiting is not made. */
  async take<Result>(tool: string, concurrency: number | undefined, signal: AbortSignal, run: () => Promise<Result>): Promise<Result> {
    if (concurrency === undefined) return run();
    const line = this.lines.get(tool) ?? { atWork: 0, waiting: new Set() };
    this.lines.set(tool, line);
    if (line.atWork >= concurrency) await turnIn(line, signal);
    else line.atWork += 1;
    try {
      return await run();
    } finally {
      const [next] = line.waiting;
      // The next call takes over the place, so that no other call comes between.
      if (next === undefined) line.atWork -= 1;
      else next();
    }
  }
}

function turnIn(line: Line, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const next = (): void => {
      line.waiting.delete(next);
      resolve();
    };
    const leave = (): void => {
      if (line.waiting.delete(next)) reject(new HoldfastError('cancelled', 'The call was cancelled before its turn had come.'));
    };
    line.waiting.add(next);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  });
}
