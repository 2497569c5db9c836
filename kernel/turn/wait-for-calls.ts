import type { RunScope } from '../run/scope';
import { isCancellation, isStop } from '../effects/errors';

/** An error ends the run after the last call, but a stop and a cancellation end the run at once. */
export async function inSequence<Result>(positions: readonly number[], run: (position: number) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  let failed: { error: unknown } | undefined;
  for (const position of positions) {
    try {
      results.push(await run(position));
    } catch (error) {
      if (isCancellation(error) || isStop(error)) throw error;
      failed ??= { error };
    }
  }
  if (failed !== undefined) throw failed.error;
  return results;
}

/** Throws the first error in call order. Only a stop ends other calls. */
export async function allSettledInOrder<Result>(run: RunScope, running: readonly Promise<Result>[]): Promise<Result[]> {
  if (running.length === 1) return [await (running[0] as Promise<Result>)];
  const watch = watchForStop(run, running);
  const settled = await Promise.allSettled(running);
  const reasons = settled.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
  if (watch.stopped) throw (run.stoppedBy = reasons.find(isStop));
  if (reasons.length > 0) throw reasons.find(isCancellation) ?? reasons[0];
  return settled.map((result) => (result as PromiseFulfilledResult<Result>).value);
}

/** The first stop cancels parallel calls, and withdraws their questions. */
function watchForStop(run: RunScope, running: readonly Promise<unknown>[]): { readonly stopped: boolean } {
  const watch = { stopped: false };
  let open = running.length;
  for (const call of running) {
    call.then(
      () => (open -= 1),
      (error: unknown) => {
        open -= 1;
        if (open === 0 || run.ports.cancelled || !isStop(error)) return;
        watch.stopped = true;
        run.cancelCalls();
      },
    );
  }
  return watch;
}
