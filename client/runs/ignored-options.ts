import { millisecondsOf as milliseconds } from '../../contract/duration';
import { codeOf } from '../../contract/errors';
import { canonicalJson } from '../../contract/messages/messages';
import type { AgentRunInput, StartInput } from '../../contract/record/wire';
import { millisecondsOf } from '../../host/history/history-facts';
import type { Histories } from '../reading/histories';
import type { StartOptions } from './start-input';

type NamedStart = Exclude<keyof StartOptions, 'id'>;

interface BegunRun {
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

/** The first start of a run counts. */
export async function ignoredOptions(histories: Histories, workflowId: string, options: StartOptions): Promise<readonly string[]> {
  const given = (Object.keys(valueOf) as NamedStart[]).filter((name) => options[name] !== undefined);
  if (given.length === 0) return [];
  const begun = await readBegun(histories, workflowId).catch((error: unknown) => {
    if (codeOf(error) === 'run-unreadable') return undefined;
    throw error;
  });
  if (begun === undefined) return given;
  return given.filter((name) => canonicalJson(asBegun(name, options[name])) !== canonicalJson(valueOf[name](begun)));
}

function asBegun(name: NamedStart, value: unknown): unknown {
  return name === 'deadline' || name === 'startDelay' ? milliseconds(value as string, 'input-invalid') : value;
}

export async function readBegun(histories: Histories, workflowId: string): Promise<BegunRun | undefined> {
  const { firstRunId } = await histories.chain(workflowId);
  const begun = await histories.started(workflowId, firstRunId);
  const [input] = begun.input?.payloads ?? [];
  if (input === undefined) return undefined;
  const { start } = (await histories.payloads.value(input)) as AgentRunInput;
  return {
    start,
    deadline: millisecondsOf(begun.workflowExecutionTimeout),
    startDelay: millisecondsOf(begun.firstWorkflowTaskBackoff),
  };
}
