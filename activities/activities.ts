import { randomUUID } from 'node:crypto';
import { Context } from '@temporalio/activity';
import { agentOfPath } from '../contract/record/agent-paths';
import { HoldfastError, codeOf, messageOf, thrownCodeOf } from '../contract/errors';
import { waitsForTool } from '../contract/missing-tool';
import type { AnswersElsewhere, ElsewhereAnswer } from '../contract/record/answers-elsewhere';
import { messageOfOutcome } from '../contract/record/tool-outcomes';
import type { Manifest, ManifestRequest } from '../contract/manifest';
import { runIdOf } from '../contract/names';
import type { PolicyPlan, PolicyRequest } from '../contract/policies';
import type {
  KeptPoint,
  CallModelInput,
  CallModelResult,
  CallToolInput,
  CallToolResult,
  ParseInputRequest,
  ParseInputResult,
  ParseOutputRequest,
  ParseOutputResult,
  AgentRunInput,
  RetryMode,
  ToolOutcome,
  TrialVerdict,
} from '../contract/record/wire';
import { abortOf } from './calls/abort';
import { withValues } from './calls/call-context';
import type { BrokenAnswer, ModelAnswer } from './models/call-model';
import { generate } from './models/call-model';
import { cutOff, tooLate } from './tools/cut-off';
import { ToolRetry, executeTool } from './tools/call-tool';
import { CallValues } from './calls/call-values';
import { activityFailure, asThrown, failedResult, isCancelled, isCancelledByRun, modelVerdict } from './failures';
import { WrapWatch } from './worker-middleware/wrap-guard';
import type { GateTurn } from './limits/gate';
import { callerOf, lostText, madeAgain, toolFailure, toolTurn } from './limits/counted-calls';
import { Patience } from './limits/patience';
import { orCancelled, orTimedOut, withHeartbeat } from './health/heartbeat';
import { lateIn } from './health/late-calls';
import { LiveCall } from './health/live-call';
import { tellOfModel, tellOfTool } from './news';
import type { WorkerParts } from './parts';
import { planOf } from './policies';
import { parseInput } from './schemas/parse-input';
import { parseOutput } from './schemas/parse-output';
import { aboutNothing } from './transcripts/start-store';
import { manifestFor } from './prepare-run';

/** What the workflow schedules, by the names that stand in history. */
export interface Activities {
  prepareRun(request: ManifestRequest): Promise<Manifest>;
  parseInput(request: ParseInputRequest): Promise<ParseInputResult>;
  planPolicy(request: PolicyRequest): Promise<PolicyPlan>;
  parseOutput(request: ParseOutputRequest): Promise<ParseOutputResult>;
  callModel(input: CallModelInput): Promise<CallModelResult>;
  callTool(input: CallToolInput): Promise<CallToolResult>;
  tryNewestBuild(input: AgentRunInput): Promise<TrialVerdict>;
  answersElsewhere(asked: AnswersElsewhere): Promise<readonly (ElsewhereAnswer | null)[]>;
  /** Does nothing: its input in the history is what a run goes on with. */
  keepResumePoint(point: KeptPoint): Promise<void>;
  resumePointOf(workflowId: string): Promise<KeptPoint | null>;
}

export function createActivities(parts: WorkerParts): Activities {
  /** What a call hands back beside its result; the worker remembers it, for the calls behind. */
  const brought = (runId: string, values: CallValues): ReturnType<CallValues['end']> => {
    const changes = values.end();
    parts.messages.values.learn(runId, changes.runLocal);
    return changes;
  };
  return {
    async prepareRun(request) {
      try {
        return manifestFor(request, parts);
      } catch (error) {
        throw activityFailure(codeOf(error) ?? 'run-failed', messageOf(error), { retryable: false });
      }
    },

    async parseInput(request) {
      return parseInput(parts.tools, request).catch((error: unknown) => {
        throw activityFailure(thrownCodeOf(error) ?? 'tool-failed', messageOf(error), { retryable: true });
      });
    },

    async planPolicy(request) {
      try {
        return planOf(parts.policies, request);
      } catch (error) {
        const code = codeOf(error) ?? 'hook-failed';
        // Another worker may have the policy that this one lacks.
        throw activityFailure(code, messageOf(error), { retryable: code === 'policy-unknown' });
      }
    },

    async parseOutput(request) {
      return parseOutput(parts.outputs, request).catch((error: unknown) => {
        const code = codeOf(error) ?? 'output-invalid';
        // Another worker may have the output that this one lacks.
        throw activityFailure(code, messageOf(error), { retryable: code === 'output-unknown' });
      });
    },

    async callModel(input) {
      const { info, cancellationSignal: signal } = Context.current();
      const { workflowId, runId } = requireExecution(info.workflowExecution);
      const address = info.activityId;
      const agent = agentOfPath(input.path);
      const live = new LiveCall(parts.deltas, runId, { agent, runPath: input.path, address, attempt: info.attempt });
      const { attempts, patienceMs } = parts.modelFacts;
      const patience = new Patience(info, attempts, patienceMs);
      const { waits } = patience;
      const waited = waits.times === 0 ? {} : { waited: waits };
      if (patience.isSpent) return { address, failed: { code: 'model-failed', message: lostText(attempts), retryable: true }, ...waited };
      const watch = new WrapWatch();
      const values = new CallValues({}, lateIn({ workflowId, address }, parts.onProblem));
      let retries: RetryMode | null | undefined;
      let left: BrokenAnswer | undefined;
      try {
        const working = async (begun: (streams: boolean) => void): Promise<ModelAnswer> => {
          values.begin(await parts.messages.values.resolve(workflowId, runId, address, input.runLocal));
          const request = await parts.messages.resolve(workflowId, runId, address, input);
          const streams = request.slots.stream === 'live';
          begun(streams);
          ({ retries } = request.slots);
          const publish = streams ? live.publish : undefined;
          const call = { agent: agentOfPath(input.path), id: address, attempt: patience.attempt, signal, ...values.access() };
          const caller = { ...callerOf(info, address), signal, mayLeave: true };
          const turnOf = (model: string, asked: unknown): Promise<GateTurn | undefined> =>
            parts.turns?.ofModel(model, caller, asked) ?? Promise.resolve(undefined);
          return withValues(values, () => generate(request, { ...parts, turnOf }, call, publish, (broken) => (left = broken), watch));
        };
        const answer = await withHeartbeat((begun) => watch.inTime(info.startToCloseTimeoutMs, () => working(begun)), patience.details);
        // A worker that shuts down aborts its calls too: half an answer counts only when somebody cancelled the run.
        if (answer.finish === 'cancelled' && !isCancelledByRun(signal)) throw abortOf(signal);
        parts.messages.putMessage(runId, answer.message);
        live.settle();
        return { address, ...answer, ...waited, ...watch.noted, ...brought(runId, values) };
      } catch (error) {
        live.void();
        const verdict = modelVerdict(error);
        const changes = brought(runId, values);
        if (isCancelled(error, signal)) throw asThrown(error);
        tellOfModel({ run: runIdOf(workflowId), agent, address, attempt: patience.attempt }, verdict, error);
        const failed = failedResult(verdict, retries, left) ?? madeAgain(patience, verdict);
        return { address, ...failed, ...waited, ...watch.noted, ...changes };
      }
    },

    async callTool(input) {
      const { info, cancellationSignal: signal } = Context.current();
      const { workflowId, runId } = requireExecution(info.workflowExecution);
      const address = info.activityId;
      const agent = agentOfPath(input.path);
      const live =
        input.hidden === true
          ? undefined
          : new LiveCall(parts.deltas, runId, { agent, runPath: input.path, address, attempt: info.attempt });
      const watch = new WrapWatch();
      const attempts = parts.tools.factsOf(input.tool)?.attempts ?? parts.toolDefaults.attempts;
      const patience = new Patience(info, attempts);
      if (patience.isSpent) throw activityFailure('tool-failed', lostText(patience.attempt - 1), { retryable: false });
      const isOnce = parts.tools.factsOf(input.tool)?.effect === 'once';
      const late = lateIn({ workflowId, address, tool: input.tool }, parts.onProblem);
      const values = new CallValues({}, late);
      const execution = {
        ...(live === undefined ? {} : { publish: live.publish }),
        idempotencyKey: `${workflowId}/${input.key ?? address}`,
        attempt: patience.attempt,
        signal,
        call: { agent, id: address, attempt: patience.attempt, signal, tool: input.tool, callId: input.callId, ...values.access() },
        watch,
        late,
        threw: (error: unknown) => tellOfTool(input, { run: runIdOf(workflowId), agent, address, attempt: patience.attempt }, error),
      };
      let hasRun = false;
      let isOutOfTime = false;
      try {
        let isOver = false;
        let ending = (): void => undefined;
        const outcome = await withHeartbeat((begun) => {
          const work = async (): Promise<ToolOutcome> => {
            values.begin(await parts.messages.values.resolve(workflowId, runId, address, input.runLocal));
            begun(isOnce);
            const turn = await toolTurn(parts, input, { ...callerOf(info, address), signal, mayLeave: patience.counts || isOnce });
            if (isOver) turn?.giveBack();
            else ending = () => turn?.end();
            const about = input.about === true ? await parts.messages.starts.of(workflowId, runId) : aboutNothing;
            // The result of the call is known: a tool that began now would be one too many.
            if (isOver) throw new HoldfastError('cancelled', 'The call ended before its tool began.');
            hasRun = input.reconcile !== true;
            const execute = (): Promise<ToolOutcome> => withValues(values, () => executeTool(input, parts, { ...execution, about }));
            return parts.loop?.during({ tool: input.tool, workflowId, address }, execute) ?? execute();
          };
          if (isOnce) return orTimedOut(work(), () => ((isOutOfTime = true), tooLate(input, info.startToCloseTimeoutMs)));
          return orCancelled(watch.inTime(info.startToCloseTimeoutMs, work));
        }, patience.details).finally(() => {
          isOver = true;
          ending();
        });
        const message = messageOfOutcome(input, { address, outcome });
        if (message !== undefined) parts.messages.putMessage(runId, message);
        live?.settle();
        // Whether the server's timer or this worker's comes first is chance, and the server's brings nothing.
        if (isOutOfTime) values.drop();
        return {
          address,
          outcome,
          ...(isOutOfTime ? {} : watch.noted),
          ...brought(runId, values),
        };
      } catch (error) {
        live?.void();
        values.end();
        if (isCancelled(error, signal)) {
          // It was told to stop, and may have done its work before it was.
          if (hasRun && isOnce && isCancelledByRun(signal)) return { address, outcome: cutOff(error) };
          throw asThrown(error);
        }
        const code = error instanceof ToolRetry ? 'tool-failed' : (thrownCodeOf(error) ?? 'tool-failed');
        // The run waits for a `once` tool that had no turn: the server would not make its call again.
        if (code === 'waiting-for-turn' && isOnce)
          return { address, outcome: { type: 'failed', messageId: randomUUID(), error: { code, message: messageOf(error) } } };
        const wait = code === 'tool-unknown' ? (waitsForTool[patience.attempt - 1] ?? waitsForTool.at(-1)) : undefined;
        throw toolFailure(patience, code, error, wait);
      }
    },

    async tryNewestBuild(input) {
      try {
        if (parts.tryNewestBuild === undefined) throw new HoldfastError('internal', 'This worker has no other builds to ask.');
        return await parts.tryNewestBuild(input);
      } catch (error) {
        throw activityFailure('upgrade-failed', messageOf(error), { retryable: true });
      }
    },

    keepResumePoint: () => Promise.resolve(),

    async resumePointOf(workflowId) {
      return (await parts.answers?.pointOf(workflowId)) ?? null;
    },

    async answersElsewhere(asked) {
      return (await parts.answers?.to(asked)) ?? [];
    },
  };
}

function requireExecution(execution: { workflowId: string; runId: string } | undefined): { workflowId: string; runId: string } {
  if (execution === undefined) throw activityFailure('internal', 'This activity runs only inside of an agent run.', { retryable: false });
  return execution;
}
