import type { ConnectionLike } from '@temporalio/client';
import type { LoadedDataConverter } from '@temporalio/common';
import { millisecondsOf as milliseconds } from '../contract/duration';
import { codeOf } from '../contract/errors';
import { canonicalJson } from '../contract/messages/messages';
import type { AgentRunInput, StartInput } from '../contract/record/wire';
import { millisecondsOf } from '../host/history/history-facts';
import { PayloadReader } from '../host/history/payload-reader';
import { readChain } from './reading/chain';
import { answered } from './lost-server';
import type { StartOptions } from './start-input';

type NamedStart = Exclude<keyof StartOptions, 'id'>;

export interface BegunRun {
  readonly start: StartInput;
  readonly deadline: number;
  readonly startDelay: number;
}

const valueOf: { readonly [Name in NamedStart]: (begun: BegunRun) => unknown } = {
  values: ({ start }) => start.values ?? {},
  model: ({ start }) => start.model,
  settings: ({ start }) => start.settings,
  stream: ({ start }) => start.stream,
  runPendingToolCalls: ({ start }) => start.runPendingToolCalls ?? false,
  tags: ({ start }) => start.tags ?? [],
  options: ({ start }) => start.options ?? {},
  by: ({ start }) => start.by,
  deadline: ({ deadline }) => deadline,
  startDelay: ({ startDelay }) => startDelay,
};

/** The options of a start that the run with its id does not have: the first start counts. */
export async function ignoredOptions(
  connection: ConnectionLike,
  namespace: string,
  converter: LoadedDataConverter,
  run: { readonly workflowId: string; readonly id: string },
  options: StartOptions,
): Promise<readonly string[]> {
  const given = (Object.keys(valueOf) as NamedStart[]).filter((name) => options[name] !== undefined);
  if (given.length === 0) return [];
  const begun = await answered(readBegun(connection, namespace, converter, run.workflowId, run.id)).catch((error: unknown) => {
    // Whatever the run has: of what was given now, nothing counts.
    if (codeOf(error) === 'run-unreadable') return undefined;
    throw error;
  });
  if (begun === undefined) return given;
  return given.filter((name) => canonicalJson(asBegun(name, options[name])) !== canonicalJson(valueOf[name](begun)));
}

function asBegun(name: NamedStart, value: unknown): unknown {
  return name === 'deadline' || name === 'startDelay' ? milliseconds(value as string, 'input-invalid') : value;
}

/** How a run began, whatever became of it. */
export async function readBegun(
  connection: ConnectionLike,
  namespace: string,
  converter: LoadedDataConverter,
  workflowId: string,
  id: string,
): Promise<BegunRun | undefined> {
  const { firstRunId } = await readChain({ connection, namespace, payloads: new PayloadReader(converter) }, workflowId, id);
  const page = await connection.workflowService.getWorkflowExecutionHistory({
    namespace,
    execution: { workflowId, runId: firstRunId },
    maximumPageSize: 1,
  });
  const begun = page.history?.events?.[0]?.workflowExecutionStartedEventAttributes;
  const [input] = begun?.input?.payloads ?? [];
  if (begun == null || input === undefined) return undefined;
  const { start } = (await new PayloadReader(converter).value(input)) as AgentRunInput;
  return {
    start,
    deadline: millisecondsOf(begun.workflowExecutionTimeout),
    startDelay: millisecondsOf(begun.firstWorkflowTaskBackoff),
  };
}
