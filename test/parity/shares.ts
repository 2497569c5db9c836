import { toolCallsOf } from '../../contract/messages/messages';
import { isTeam, isolatedTeams, otherNames } from './agent-names';
import type { Played } from './play';

export const leastShares = {
  error: 20,
  interrupt: 20,
  parallel: 20,
  retry: 20,
  alias: 8,
  race: 4,
  usage: 1,
  team: 10,
  isolated: 3,
  border: 15,
  kill: 1,
  away: 1,
  late: 2,
  again: 1,
  retried: 5,
} as const;

export type Kind = keyof typeof leastShares;
export const kinds = Object.keys(leastShares) as readonly Kind[];

const aliases = new Set(Object.values(otherNames));

export function kindsOf({ script, play, moves, parts, end }: Played): ReadonlySet<Kind> {
  const found = new Set<Kind>();
  const note = (kind: Kind, happened: boolean): void => void (happened && found.add(kind));
  for (const event of [end, ...parts].flatMap(({ log }) => log)) {
    note('error', 'error' in event && event.error !== undefined);
    note('interrupt', event.type === 'interrupt-start');
    note('retry', event.type === 'model-retry');
    if (event.type === 'model-end') {
      const calls = toolCallsOf(event.message);
      note('parallel', script.agent !== 'steps' && calls.length > 1);
      note(
        'alias',
        calls.some(({ name }) => aliases.has(name)),
      );
      note('race', (script.agent === 'racing' || isTeam(script.agent)) && JSON.stringify(calls).includes('"race '));
      note('usage', (script.agent === 'racing' || isTeam(script.agent)) && JSON.stringify(calls).includes('"count"'));
    }
  }
  const madeAgain = play.asked.some(({ lane, address }, position) =>
    play.asked.slice(0, position).some((one) => one.lane === lane && one.address === address),
  );
  const calledAgain = play.used.some((call) => ((call as { attempt?: number } | null)?.attempt ?? 1) > 1);
  note('retry', madeAgain || calledAgain);
  note('usage', script.agent === 'made');
  note('team', isTeam(script.agent));
  note('isolated', isolatedTeams.includes(script.agent) && parts.length > 0);
  const acts = moves.flatMap((move) => move.acts);
  const crossed = (at: readonly number[] = []): boolean => at.some((count) => count < end.log.length);
  note('border', crossed(script.bordersAt) || acts.some((act) => act.do === 'border' && act.crossed === true));
  note('kill', crossed(script.killsAt));
  note(
    'away',
    acts.some((act) => act.do === 'leave'),
  );
  note(
    'late',
    acts.some((act) => act.do === 'leave' && act.late),
  );
  note(
    'retried',
    acts.some((act) => act.do === 'retry' && act.refused === undefined),
  );
  note(
    'again',
    acts.some((act, position) => act.do === 'answer' && acts.slice(0, position).some((one) => one.do === 'answer' && one.id === act.id)),
  );
  return found;
}

export function sharesOf(runs: readonly Played[]): Readonly<Record<Kind, number>> {
  const found = runs.map(kindsOf);
  const share = (kind: Kind): number => Math.round((100 * found.filter((all) => all.has(kind)).length) / Math.max(1, runs.length));
  return Object.fromEntries(kinds.map((kind) => [kind, share(kind)])) as Record<Kind, number>;
}
