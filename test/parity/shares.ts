import { toolCallsOf } from '../../contract/plain/messages';
import type { Played } from './play';

export const kinds = ['error', 'interrupt', 'parallel', 'retry'] as const;
export type Kind = (typeof kinds)[number];

/** What happened in a run, whatever its script meant to happen. */
export function kindsOf({ script, play, end: { log } }: Played): ReadonlySet<Kind> {
  const found = new Set<Kind>();
  for (const event of log) {
    if ('error' in event && event.error !== undefined) found.add('error');
    if (event.type === 'interrupt-start') found.add('interrupt');
    if (event.type === 'model-retry') found.add('retry');
    if (event.type === 'model-end' && script.agent !== 'steps' && toolCallsOf(event.message).length > 1) found.add('parallel');
  }
  // Calls that the server made again leave no event.
  const madeAgain = script.said.slice(0, Math.max(0, play.asked.length - 1)).some((said) => 'fails' in said && said.fails === 'in passing');
  const calledAgain = play.used.some((call) => ((call as { attempt?: number } | null)?.attempt ?? 1) > 1);
  if (madeAgain || calledAgain) found.add('retry');
  return found;
}

/** In parts of a hundred. */
export function sharesOf(runs: readonly Played[]): Readonly<Record<Kind, number>> {
  const found = runs.map(kindsOf);
  const share = (kind: Kind): number => Math.round((100 * found.filter((all) => all.has(kind)).length) / Math.max(1, runs.length));
  return { error: share('error'), interrupt: share('interrupt'), parallel: share('parallel'), retry: share('retry') };
}
