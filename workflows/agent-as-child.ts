import { sentence } from '../contract/check';
import { defined } from '../contract/defined';
import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  ChildWorkflowFailure,
  TerminatedFailure,
  TimeoutFailure,
  executeChild,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError, defineSearchAttributeKey } from '@temporalio/common';
import { millisecondsOf } from '../contract/duration';
import { HoldfastError, codeOf, isErrorCode, messageOf, wellFormed } from '../contract/errors';
import { jsonSize, limits } from '../contract/limits';
import type { InputFor } from '../contract/messages/message-shapes';
import { isAnyMessage, messagesOf } from '../contract/messages/message-shapes';
import type { Json, ModelSettings } from '../contract/messages/messages';
import { canonicalJson, isMessage, notJson } from '../contract/messages/messages';
import { settingsProblem } from '../contract/model-settings';
import { defaultTaskQueue, defaultTenant, isName, isRunId, names, workflowIdOf } from '../contract/names';
import type { RunOptions } from '../contract/run-options';
import { runOptionsProblem, tagsProblem } from '../contract/run-options';
import { sha256 } from '../contract/sha256';
import type { AgentRunInput, AgentRunResult, StartInput } from '../contract/record/wire';
import { problemOfJob } from '../contract/schema/job-schema';
import type { Agent } from '../kernel/define/agent-ref';
import { isAgent } from '../kernel/define/agent-ref';
import { jobTaker, definitionOf } from '../kernel/define/definition';

export interface ChildAgentOptions {
  /** The id of the run for clients. Default: a new id. A used id is `run-id-in-use`. */
  readonly id?: string;
  readonly tenant?: string;
  /** The task queue of the agent's worker. Default: `holdfast`; with `holdfastPlugin` the task queue of the calling workflow. */
  readonly taskQueue?: string;
  readonly values?: Readonly<Record<string, Json>>;
  readonly model?: string;
  readonly settings?: ModelSettings;
  /** Default: yes. */
  readonly stream?: boolean;
  /** The longest time of the run, such as '30d'. */
  readonly deadline?: string;
  readonly tags?: readonly string[];
  readonly options?: RunOptions;
  /** The person who starts the run. */
  readonly by?: string;
  /** Roles of the starter, and how the name was proven. The calling workflow answers for both. */
  readonly roles?: readonly string[];
  readonly proof?: string;
  /** Snapshots may go to external storage of the worker. */
  readonly externalStorage?: boolean;
}

type SomeAgent = Agent<string, unknown, unknown>;
type TypesOf<A extends SomeAgent> = NonNullable<A['types']>;

const keys = {
  agent: defineSearchAttributeKey('HoldfastAgent', 'KEYWORD'),
  tenant: defineSearchAttributeKey('HoldfastTenant', 'KEYWORD'),
  status: defineSearchAttributeKey('HoldfastStatus', 'KEYWORD'),
  tags: defineSearchAttributeKey('HoldfastTags', 'KEYWORD_LIST'),
  startedBy: defineSearchAttributeKey('HoldfastStartedBy', 'KEYWORD'),
};

let servedHere = false;

/** This worker also serves agents. */
export function agentsAreHere(): void {
  servedHere = true;
}

/**
 * Runs an agent as a child workflow and returns its output. Clients find the run by its id and answer its questions. Throws an
 * `ApplicationFailure` with the code as `type`. A cancelled workflow cancels its child.
 * @example
 * export async function ticket(orderId: string): Promise<string> {
 *   const options = { id: `ticket-${orderId}`, deadline: '7d' };
 *   return runAgentAsChild<typeof support>('support', `Refund order ${orderId}.`, options);
 * }
 */
export async function runAgentAsChild<A extends SomeAgent = Agent<string, Json, Json>>(
  agent: A | A['name'],
  input: InputFor<TypesOf<A>['input']>,
  options: ChildAgentOptions = {},
): Promise<TypesOf<A>['output']> {
  const start = coded(() => startOf(typeof agent === 'string' ? agent : agent.name, input, options));
  // The run checks the job of an agent given by name.
  if (isAgent(agent)) coded(() => checkJob(agent, start.input));
  const { deadline, taskQueue = servedHere ? workflowInfo().taskQueue : defaultTaskQueue } = options;
  const timeout = deadline === undefined ? {} : { workflowExecutionTimeout: coded(() => millisecondsOf(deadline, 'input-invalid')) };
  let result: AgentRunResult;
  try {
    result = await executeChild<(input: AgentRunInput) => Promise<AgentRunResult>>(names.workflow, {
      workflowId: workflowIdOf(start.tenant, start.id),
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      taskQueue,
      args: [{ start }],
      memo: { [names.memo.start]: sha256(canonicalJson([start.agent, input as Json])) },
      typedSearchAttributes: [
        { key: keys.agent, value: start.agent },
        { key: keys.tenant, value: start.tenant },
        { key: keys.status, value: 'running' },
        ...((start.tags ?? []).length === 0 ? [] : [{ key: keys.tags, value: [...(start.tags ?? [])] }]),
        // Refusing a longer name would fail existing workflows.
        ...(start.by === undefined || start.by.length > limits.starter ? [] : [{ key: keys.startedBy, value: start.by }]),
      ],
      ...timeout,
    });
  } catch (error) {
    throw failureOfChild(error, start.id);
  }
  const { output, pendingToolCalls } = result;
  if (pendingToolCalls === undefined) return output;
  const tools = pendingToolCalls.map(({ name }) => `'${name}'`).join(', ');
  throw failure('tool-calls-pending', `The run "${start.id}" has no result: it ended with calls of ${tools}, which no worker runs.`);
}

function startOf(agent: unknown, input: unknown, options: ChildAgentOptions): StartInput {
  const { id = `child-${uuid4()}`, tenant = defaultTenant, values = {}, stream = true, tags = [] } = options;
  if (!isName(agent)) throw new HoldfastError('agent-unknown', `"${String(agent)}" is no name of an agent.`);
  if (!isRunId(id)) throw new HoldfastError('run-id-invalid', `"${String(id)}" is no id for a run.`);
  if (input === undefined || input === null)
    throw new HoldfastError('input-invalid', 'The input is missing: send a text, a list of messages or a job.');
  const unfit =
    (options.settings === undefined ? undefined : settingsProblem(options.settings)) ??
    (options.options === undefined ? undefined : runOptionsProblem(options.options));
  if (unfit !== undefined) throw new HoldfastError('options-invalid', `The options of the start: ${sentence(unfit)}`);
  const wrong = tagsProblem(tags);
  if (wrong !== undefined) throw new HoldfastError('input-invalid', wrong);
  const start: StartInput = {
    version: 1,
    tenant,
    id,
    agent: agent,
    input: messagesIn(input),
    values,
    stream,
    options: options.options ?? {},
    tags,
    ...defined({ model: options.model, settings: options.settings, by: options.by, roles: options.roles, proof: options.proof }),
    ...(options.externalStorage === true ? { externalStorage: true } : {}),
  };
  const problem = notJson(start);
  if (problem !== undefined) throw new HoldfastError('input-invalid', `The input is not JSON: ${problem}.`);
  const bytes = jsonSize(start);
  if (bytes > limits.runInput) throw new HoldfastError('input-too-large', `The input has ${bytes} bytes; at most ${limits.runInput} fit.`);
  return start;
}

function checkJob(agent: Agent, job: Json): void {
  const schema = jobTaker(definitionOf(agent))?.inputSchema;
  const problem = schema === undefined ? undefined : problemOfJob(agent.name, schema, job);
  if (problem !== undefined) throw new HoldfastError('input-invalid', problem);
}

/** Histories have messages in one shape only. */
function messagesIn(input: unknown): Json {
  const isList = Array.isArray(input) && input.length > 0 && !input.every(isMessage) && input.every(isAnyMessage);
  return (isList ? messagesOf(input) : input) as Json;
}

/** Other errors than Temporal's failures would fail the workflow task for ever. */
function coded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code = codeOf(error);
    throw code === undefined ? error : failure(code, messageOf(error));
  }
}

function failureOfChild(error: unknown, id: string): unknown {
  if (error instanceof WorkflowExecutionAlreadyStartedError) return failure('run-id-in-use', `There is a run "${id}" already.`);
  if (!(error instanceof ChildWorkflowFailure)) return error;
  const { cause } = error;
  if (cause instanceof CancelledFailure)
    return CancellationScope.current().consideredCancelled ? error : failure('cancelled', `The run "${id}" was cancelled.`, error);
  if (cause instanceof TerminatedFailure) return failure('run-terminated', `The run "${id}" was terminated.`, error);
  if (cause instanceof TimeoutFailure) return failure('run-timed-out', `The run "${id}" did not end in time.`, error);
  const type = (cause as { readonly type?: unknown } | undefined)?.type;
  return failure(isErrorCode(type) ? type : 'run-failed', messageOf(cause ?? error), error);
}

function failure(code: string, message: string, cause?: Error): ApplicationFailure {
  return ApplicationFailure.create({
    type: code,
    message: wellFormed(message),
    nonRetryable: true,
    ...defined({ cause }),
  });
}
