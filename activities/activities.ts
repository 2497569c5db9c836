import { HoldfastError, codeOf, messageOf, thrownCodeOf } from '../contract/errors';
import type { AnswersElsewhere, ElsewhereAnswer } from '../contract/record/answers-elsewhere';
import type { Manifest, ManifestRequest } from '../contract/manifest';
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
  TrialVerdict,
} from '../contract/record/wire';
import { activityFailure } from './failures';
import { ModelActivity } from './model-activity';
import type { WorkerParts } from './parts';
import { planOf } from './policies';
import { parseInput } from './schemas/parse-input';
import { parseOutput } from './schemas/parse-output';
import { manifestFor } from './prepare-run';
import { ToolActivity } from './tool-activity';

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
      return new ModelActivity(parts, input).result();
    },

    async callTool(input) {
      return new ToolActivity(parts, input).result();
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
