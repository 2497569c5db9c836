import type { ErrorCode } from '../contract/errors';
import { HoldfastError, messageOf, thrownCodeOf } from '../contract/errors';
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
import { tellOfStart } from './news';
import type { WorkerParts } from './parts';
import { partsForCall } from './parts';
import { planOf } from './policies';
import { manifestFor } from './prepare-run';
import { parseInput } from './schemas/parse-calls';
import { ToolActivity } from './tool-activity';

export interface Activities {
  prepareRun(request: ManifestRequest): Promise<Manifest>;
  parseInput(request: ParseInputRequest): Promise<ParseInputResult>;
  planPolicy(request: PolicyRequest): Promise<PolicyPlan>;
  parseOutput(request: ParseOutputRequest): Promise<ParseOutputResult>;
  callModel(input: CallModelInput): Promise<CallModelResult>;
  callTool(input: CallToolInput): Promise<CallToolResult>;
  tryNewestBuild(input: AgentRunInput): Promise<TrialVerdict>;
  answersElsewhere(asked: AnswersElsewhere): Promise<readonly (ElsewhereAnswer | null)[]>;
  keepResumePoint(point: KeptPoint): Promise<void>;
  resumePointOf(workflowId: string): Promise<KeptPoint | null>;
}

export function createActivities(parts: WorkerParts): Activities {
  return {
    prepareRun: (request) =>
      orFailure('run-failed', 'mcp-unreachable', () =>
        manifestFor(request, parts).catch((error: unknown) => {
          tellOfStart(request.agent, error);
          throw error;
        }),
      ),
    parseInput: (request) => orFailure('tool-failed', true, () => parseInput(parts.tools, request)),
    planPolicy: (request) => orFailure('hook-failed', 'policy-unknown', () => planOf(parts.policies, request)),
    parseOutput: ({ output, text }) => orFailure('output-invalid', 'output-unknown', () => parts.outputs.parse(output, text)),
    callModel: async (input) => new ModelActivity(parts, input).result(),
    callTool: async (input) => new ToolActivity(partsForCall(parts, input), input).result(),
    tryNewestBuild: (input) =>
      orFailure('upgrade-failed', true, () => {
        if (parts.tryNewestBuild === undefined) throw new HoldfastError('upgrade-failed', 'This worker has no other builds to ask.');
        return parts.tryNewestBuild(input);
      }),
    answersElsewhere: async (asked) => (await parts.answers?.to(asked)) ?? [],
    keepResumePoint: () => Promise.resolve(),
    resumePointOf: async (workflowId) => (await parts.answers?.pointOf(workflowId)) ?? null,
  };
}

/** `retried`: failures that the server retries, as another worker may have the missing policy or output. */
async function orFailure<T>(fallback: ErrorCode, retried: boolean | ErrorCode, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = thrownCodeOf(error) ?? fallback;
    throw activityFailure(code, messageOf(error), { retryable: retried === true || retried === code });
  }
}
