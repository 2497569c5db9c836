import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { HoldfastClient } from '../../client/index';
import type { Action, Author } from '../../contract/access';
import type { BatchActivities, BatchInput, BatchProgress } from '../../contract/batches';
import { batchBegin, batchTag, runIdOfLine } from '../../contract/batches';
import { defined } from '../../contract/defined';
import { codeOf, messageOf } from '../../contract/errors';
import { isEnded } from '../../contract/events';
import type { ServiceStore } from '../store/store';
import { inOrder } from './in-order';
import { keptLines } from './kept-lines';
import type { LineRuns } from './run-batch';
import { runBatch } from './run-batch';

/** A stop is heard with the next heartbeat. */
const heartbeatMs = 1000;
const cancelsAtOnce = 8;

export function batchActivities({ client, store }: { readonly client: HoldfastClient; readonly store: ServiceStore }): BatchActivities {
  return {
    async runBatch(batch) {
      const context = Context.current();
      const { cancellationSignal: signal, info } = context;
      let progress = (info.heartbeatDetails as BatchProgress | undefined) ?? batchBegin;
      const beat = setInterval(() => context.heartbeat(progress), heartbeatMs);
      context.heartbeat(progress);
      try {
        const runs = lineRuns(clientOf(client, batch.tenant, batch.author), batch);
        const done = await runBatch(batch, progress, { store, runs, signal, report: (told) => (progress = told) });
        // A service that closes leaves the batch to another.
        if (signal.aborted && context.cancellationDetails?.cancelRequested !== true) throw signal.reason;
        return done;
      } catch (error) {
        // The attempt after an error begins where this attempt ended.
        context.heartbeat(progress);
        const code = codeOf(error);
        throw code === undefined ? error : ApplicationFailure.retryable(messageOf(error), code);
      } finally {
        clearInterval(beat);
      }
    },
    async cancelRuns(batch, author) {
      const context = Context.current();
      const beat = setInterval(() => context.heartbeat(), heartbeatMs);
      const its = clientOf(client, batch.tenant, author);
      const cancels = inOrder(keptLines(store, batch), cancelsAtOnce, async (line) => {
        const status = await its.batches.runOf(batch, line);
        if (status === undefined || isEnded(status)) return;
        await its
          .run(runIdOfLine(batch.id, line))
          .cancel()
          .catch((error: unknown) => {
            if (codeOf(error) !== 'run-ended') throw error;
          });
      });
      try {
        for await (const _ of cancels) context.cancellationSignal.throwIfAborted();
      } finally {
        clearInterval(beat);
      }
    },
  };
}

function lineRuns(client: HoldfastClient, batch: BatchInput): LineRuns {
  const runOf = (line: Parameters<LineRuns['start']>[0]) => client.run(runIdOfLine(batch.id, line));
  return {
    async start({ line, id, input, tags = [], values }) {
      const all = [...new Set([...batch.tags, ...tags, batchTag(batch.id)])];
      await client.start(batch.agent, input, {
        id: runIdOfLine(batch.id, { line, ...defined({ id }) }),
        tags: all,
        stream: false,
        ...defined({ values }),
      });
    },
    async rests(line, signal) {
      const events = runOf(line).events({ until: 'waiting', deltas: false, signal });
      while ((await events.next()).done !== true);
    },
    async ends(line, signal) {
      const events = runOf(line).events({ until: 'end', deltas: false, signal });
      while ((await events.next()).done !== true);
    },
    statusOf: (line) => client.batches.runOf(batch, line),
  };
}

const acts: readonly Action[] = ['runs:start', 'runs:read', 'runs:control'];

/** In the name of the caller whom the service has identified. */
function clientOf(client: HoldfastClient, tenant: string, { by: user, roles = [], proof }: Author): HoldfastClient {
  if (user === undefined || proof === undefined) return client.forTenant(tenant);
  return client.as({ tenant, user, roles, proof, may: new Set(acts) });
}
