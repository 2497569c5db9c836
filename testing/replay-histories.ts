import { defined } from '../contract/defined';
import type { HistoryAndWorkflowId } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import { HoldfastError } from '../contract/errors';
import type { WorkflowBundle } from '../worker/bundle';
import { bundleAgents } from '../worker/bundle';
import { removePromiseHooks } from '../worker/check-bundle';
import { quietUnlessInstalled } from '../worker/runtime';
import type { History, HistoryFile } from './history-files';
import { readHistories } from './history-files';
import { replayFailure } from './replay-failure';

export interface ReplayOptions {
  /** Path of the agents module. */
  readonly agents: string;
  /** A file, a folder, or a pattern such as `test/replay/*.json`. */
  readonly histories: string;
  /** The agents' bundle, when there is one. */
  readonly bundle?: WorkflowBundle;
  /** With the storage or the codec that the runs were written with. */
  readonly dataConverter?: DataConverter;
}

export interface Replayed {
  /** The file's name without its end. */
  readonly id: string;
  /** Why today's code would not do again what this history says. */
  readonly error?: HoldfastError;
}

/** Runs recorded histories through today's agents. An error names what open runs would meet if this code took them over. */
export async function replayHistories(options: ReplayOptions): Promise<readonly Replayed[]> {
  const { agents, histories, bundle, dataConverter } = (options as Partial<ReplayOptions> | null | undefined) ?? {};
  if (!isText(histories) || (!isText(agents) && bundle === undefined))
    throw new HoldfastError(
      'request-invalid',
      'replayHistories takes agents, the path of the agents module, and histories: a file, a folder or a pattern.',
    );
  const files = await readHistories(histories);
  const { code } = bundle ?? (await bundleAgents(agents ?? ''));
  const errors = new Map<string, Error | undefined>();
  const replayed = { workflowBundle: { code }, ...defined({ dataConverter }) };
  quietUnlessInstalled();
  try {
    for await (const { runId, error } of Worker.runReplayHistories(replayed, runsOf(files))) errors.set(runId, error);
  } finally {
    removePromiseHooks();
  }
  return files.map(({ id, history }) => {
    const error = errors.get(startOf(history)?.originalExecutionRunId ?? '');
    return error === undefined ? { id } : { id, error: replayFailure(error, id, history) };
  });
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function* runsOf(files: readonly HistoryFile[]): Generator<HistoryAndWorkflowId> {
  for (const { id, history } of files) yield { workflowId: startOf(history)?.workflowId || id, history };
}

function startOf(
  history: History,
): NonNullable<NonNullable<History['events']>[number]['workflowExecutionStartedEventAttributes']> | undefined {
  return history.events?.[0]?.workflowExecutionStartedEventAttributes ?? undefined;
}
