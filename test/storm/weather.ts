import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { availableParallelism } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { messageOf } from '../../contract/errors';
import { names } from '../../contract/names';
import { asksAgain } from '../../contract/news';
import type { KilledWorker } from '../parity/killed-worker';
import { Random } from '../parity/random';
import type { Temporal } from '../support/temporal';
import type { Conditions } from './settings';
import { stopMs } from './settings';

/** The query of Temporal's own web page. */
const metadataQuery = '__temporal_workflow_metadata';

const patienceMs = 20_000;

export interface Asked {
  queries: number;
  refused: number;
  unanswered: number;
  signals: number;
  updates: number;
}

export interface Showers {
  readonly asked: Asked;
  end(): Promise<void>;
}

/** Sends queries and requests that the run refuses, none of which may change the result. */
export function beginShowers({ connection, handle }: Temporal, seed: string, ids: readonly string[], { queries }: Conditions): Showers {
  const asked: Asked = { queries: 0, refused: 0, unanswered: 0, signals: 0, updates: 0 };
  const ending = new AbortController();
  setMaxListeners(0, ending.signal);
  const pending = new Set<Promise<unknown>>();
  const pause = (ms: number): Promise<void> => setTimeout(ms, undefined, { signal: ending.signal }).catch(() => undefined);
  const send = (what: () => Promise<unknown>, failed: (error: unknown) => void): Promise<unknown> => {
    const sent = connection
      .withDeadline(Date.now() + patienceMs, what)
      .catch(failed)
      .finally(() => pending.delete(sent));
    pending.add(sent);
    return sent;
  };
  const unanswered = (error: unknown): void => {
    if (said(error).includes(asksAgain)) asked.refused += 1;
    else asked.unanswered += 1;
  };

  const ask = async (): Promise<void> => {
    const random = new Random(`${seed} queries`);
    while (queries !== undefined && !ending.signal.aborted) {
      await pause(queries.least + random.below(queries.most - queries.least + 1));
      const run = handle(random.chance(0.7) ? (ids[0] ?? '') : random.of(ids));
      asked.queries += 1;
      const answer = send(() => run.query(random.chance(0.5) ? names.statusQuery : metadataQuery), unanswered);
      // A page without an answer asks again when reopened.
      await Promise.race([answer, pause(1500)]);
    }
  };
  const disturb = async (): Promise<void> => {
    const random = new Random(`${seed} disturbances`);
    while (!ending.signal.aborted) {
      await pause(100 + random.below(900));
      const run = handle(random.of(ids));
      if (random.chance(0.5)) {
        asked.signals += 1;
        await send(
          () => run.signal('nobody-hears-it', 1),
          () => undefined,
        );
      } else {
        asked.updates += 1;
        const args: [unknown] = [{ interruptId: 'none', answer: true }];
        const refused = send(
          () => run.executeUpdate(names.answerUpdate, { args }),
          () => undefined,
        );
        await Promise.race([refused, pause(1500)]);
      }
    }
  };
  const both = Promise.all([ask(), disturb()]);
  return {
    asked,
    async end() {
      ending.abort();
      await both;
      await Promise.all(pending);
    },
  };
}

function said(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  return messageOf(error) + (cause === undefined ? '' : ` ${messageOf(cause)}`);
}

export interface Gusts {
  readonly stops: number;
  readonly ended: number;
  end(): Promise<void>;
}

export function beginGusts(worker: KilledWorker, seed: string, { stops, kills }: Conditions): Gusts {
  const random = new Random(`${seed} gusts`);
  const ending = new AbortController();
  const pause = (ms: number): Promise<void> => setTimeout(ms, undefined, { signal: ending.signal }).catch(() => undefined);
  const count = { stops: 0, ended: 0 };
  const blow = async (): Promise<void> => {
    for (let next = Date.now() + 5000; !ending.signal.aborted;) {
      await pause(500);
      if (worker.hasEnded) {
        count.ended += 1;
        worker.kill();
        await worker.replaced();
      }
      if (ending.signal.aborted || Date.now() < next || !(stops || kills)) continue;
      if (stops && (!kills || random.chance(0.6))) {
        count.stops += 1;
        await worker.stop(stopMs);
      } else {
        worker.kill();
        await worker.replaced();
      }
      next = Date.now() + 5000 + random.below(15_000);
    }
  };
  const blowing = blow();
  return {
    get stops() {
      return count.stops;
    },
    get ended() {
      return count.ended;
    },
    async end() {
      ending.abort();
      await blowing;
    },
  };
}

const busyLoop =
  'const parent = process.ppid; for (;;) { const until = Date.now() + 1000; while (Date.now() < until); if (process.ppid !== parent) break; }';

export function beginLoops(): () => void {
  const loops = Array.from({ length: availableParallelism() }, (): ChildProcess =>
    spawn(process.execPath, ['-e', busyLoop], { stdio: 'ignore' }),
  );
  return () => loops.forEach((loop) => loop.kill('SIGKILL'));
}
