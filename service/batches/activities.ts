import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { HoldfastClient } from '../../client/index';
import type { Action, Author } from '../../contract/access';
import type { BatchActivities, BatchInput, BatchProgress } from '../../contract/batches';
import { batchBegin, batchTag, batchWaits, runIdOfLine } from '../../contract/batches';
import { defined } from '../../contract/defined';
import { HoldfastError, codeOf, isFinal, messageOf } from '../../contract/errors';
import { isEnded } from '../../contract/events';
import type { ConfiguredSchedule, LinesOfSchedule } from '../../contract/schedules';
import type { AppParts } from '../parts';
import { inOrder } from './in-order';
import { keptLines } from './kept-lines';
import type { BatchWork, LineRuns } from './run-batch';
import { countEnds, startLines } from './run-batch';
import type { GivenLine } from './start-batch';
import { keepLines } from './start-batch';

/** A stop is heard with the next heartbeat. */
const heartbeatMs = 1000;
const lookAgainMs = 10_000;
const cancelsAtOnce = 8;

export interface BatchServing extends Pick<AppParts, 'agents' | 'store'> {
  readonly client: HoldfastClient;
  readonly schedules: () => Readonly<Record<string, ConfiguredSchedule>>;
}

export function batchActivities({ client, store, agents, schedules }: BatchServing): BatchActivities {
  const workOf = (batch: BatchInput, { signal, report }: Pick<BatchWork, 'signal' | 'report'>): BatchWork => ({
    ...{ store, signal, report },
    runs: lineRuns(clientOf(client, batch.tenant, batch.author), batch),
  });
  return {
    keepLines: (batch) =>
      beating(batchBegin, async () => {
        const { schedule = '' } = batch;
        const lines = schedules()[schedule]?.batch?.lines;
        // Another service may have the schedule.
        if (lines === undefined)
          throw ApplicationFailure.retryable(`The configuration of this service has no batch "${schedule}".`, 'schedule-unknown');
        const parts = { client: clientOf(client, batch.tenant, batch.author), agents, store };
        const keeping = keepLines(linesOfSchedule(schedule, lines), batch, parts).catch((error: unknown) => {
          if (isFinal(error)) Context.current().log.error(`The batch ${batch.id} has no lines: ${messageOf(error)}`);
          throw isFinal(error) ? ApplicationFailure.nonRetryable(messageOf(error), codeOf(error)) : error;
        });
        return Promise.race([keeping, Context.current().cancelled]);
      }),
    startLines: (batch) => beating(batchBegin, (begin, at) => startLines(batch, begin, workOf(batch, at))),
    countEnds: (batch, begun) =>
      beating(begun, async (begin, at) => {
        const progress = await countEnds(batch, begin, workOf(batch, at));
        if (progress.chunk === batch.chunks || at.signal.aborted) return progress;
        at.report(progress);
        throw ApplicationFailure.create({
          type: batchWaits,
          message: 'Runs have not ended.',
          nextRetryDelay: lookAgainMs,
          category: ApplicationFailureCategory.BENIGN,
        });
      }),
    cancelRuns: (batch, author, progress) =>
      beating(progress, async (_, { signal }) => {
        const its = clientOf(client, batch.tenant, author);
        const cancels = inOrder(openRuns(batch, its, store), cancelsAtOnce, (id) =>
          its
            .run(id)
            .cancel()
            .catch((error: unknown) => {
              if (codeOf(error) !== 'run-ended') throw error;
            }),
        );
        for await (const _ of cancels) signal.throwIfAborted();
      }),
  };
}

async function beating<Result>(
  begin: BatchProgress,
  work: (begin: BatchProgress, at: Pick<BatchWork, 'signal' | 'report'>) => Promise<Result>,
): Promise<Result> {
  const context = Context.current();
  const { cancellationSignal: signal, info } = context;
  let progress = (info.heartbeatDetails as BatchProgress | undefined) ?? begin;
  const beat = setInterval(() => context.heartbeat(progress), heartbeatMs);
  context.heartbeat(progress);
  try {
    const done = await work(progress, { signal, report: (told) => (progress = told) });
    // A service that closes leaves the batch to another.
    if (signal.aborted && context.cancellationDetails?.cancelRequested !== true) throw signal.reason;
    return done;
  } catch (error) {
    context.heartbeat(progress);
    const code = codeOf(error);
    throw code === undefined ? error : ApplicationFailure.retryable(messageOf(error), code);
  } finally {
    clearInterval(beat);
  }
}

async function* linesOfSchedule(name: string, lines: LinesOfSchedule): AsyncGenerator<GivenLine> {
  let line = 0;
  try {
    for await (const value of await lines()) yield { line: ++line, value };
  } catch (error) {
    throw new HoldfastError('batch-lines-failed', `\`lines\` of the schedule "${name}" failed: ${messageOf(error)}`, { cause: error });
  }
}

/** Lists of the server lag, so they count only if the store has lost the lines. */
async function* openRuns(batch: BatchInput, client: HoldfastClient, store: AppParts['store']): AsyncGenerator<string> {
  try {
    const ids = inOrder(keptLines(store, batch), cancelsAtOnce, async (line) => {
      const status = await client.batches.runOf(batch, line);
      return status === undefined || isEnded(status) ? undefined : runIdOfLine(batch.id, line);
    });
    for await (const id of ids) if (id !== undefined) yield id;
  } catch (error) {
    if (codeOf(error) !== 'batch-lines-missing') throw error;
    let after: string | undefined;
    do {
      const page = await client.list({ tag: batchTag(batch.id), status: 'open', ...defined({ after }) });
      for (const { id } of page.runs) yield id;
      after = page.next;
    } while (after !== undefined);
  }
}

function lineRuns(client: HoldfastClient, batch: BatchInput): LineRuns {
  return {
    async start({ input, values, tags = [], ...line }) {
      const all = [...new Set([...batch.tags, ...tags, batchTag(batch.id)])];
      await client.start(batch.agent, input, { id: runIdOfLine(batch.id, line), tags: all, stream: false, ...defined({ values }) });
    },
    async rests(line, signal) {
      try {
        const events = client.run(runIdOfLine(batch.id, line)).events({ until: 'waiting', deltas: false, signal });
        while ((await events.next()).done !== true);
      } catch (error) {
        // The server no longer keeps a run that ended long ago.
        if (codeOf(error) !== 'run-unknown') throw error;
      }
    },
    statusOf: (line) => client.batches.runOf(batch, line),
  };
}

const acts: readonly Action[] = ['runs:start', 'runs:read', 'runs:control'];

/** In the name of the caller whom the service has identified, or of the schedule. */
function clientOf(client: HoldfastClient, tenant: string, { by: user, roles = [], proof }: Author): HoldfastClient {
  if (user === undefined || proof === undefined) return client.forTenant(tenant);
  return client.as({ tenant, user, roles, proof, may: new Set(acts) });
}
