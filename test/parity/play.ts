import type { RunView } from '../../contract/plain/events';
import { answerTo } from './decide';
import type { Play } from './plays';
import { beginPlay } from './plays';
import type { Script } from './script';
import type { Act, Move, Standing, Table } from './table';
import { received } from './table';

/** All that a run showed. */
export interface Played {
  readonly script: Script;
  readonly play: Play;
  /** How it stood whenever it could not go on by itself, and what was done then. */
  readonly moves: readonly Move[];
  readonly end: Standing;
  readonly view: RunView;
}

/** More moves than any script has: a run that asks again and again. */
const mostMoves = 40;

/** Plays a script where it is quick, and finds out what has to be done when. */
export async function lead(script: Script, runId: string, seat: (script: Script, runId: string) => Promise<Table>): Promise<Played> {
  const play = beginPlay(runId, script);
  const table = await seat(script, runId);
  const decisions = [...script.decisions];
  const moves: Move[] = [];
  let decided = 0;
  for (;;) {
    const standing = await table.standing();
    const { gaveUp } = script;
    const isLeft = gaveUp !== undefined && decided >= gaveUp.after;
    if (standing.open.length === 0 || (isLeft && !gaveUp.cancels)) return { script, play, moves, end: standing, view: await table.view() };
    if (moves.length === mostMoves) throw new Error(`The run of the script ${script.name} asks for ever.`);
    const acts: Act[] = [];
    if (isLeft) acts.push(await received(table, { do: 'cancel' }));
    else {
      if (script.borders) acts.push(await received(table, { do: 'border' }));
      for (const interrupt of script.together ? standing.open : standing.open.slice(0, 1)) {
        decided += 1;
        acts.push(await received(table, { do: 'answer', id: interrupt.id, ...answerTo(interrupt, decisions.shift() ?? 'yes') }));
      }
    }
    moves.push({ standing, acts });
  }
}

/** Plays it again elsewhere, move by move. It ends early where the run does not come to stand as it did. */
export async function follow(led: Played, runId: string, seat: (script: Script, runId: string) => Promise<Table>): Promise<Played> {
  const { script } = led;
  const play = beginPlay(runId, script);
  const table = await seat(script, runId);
  const moves: Move[] = [];
  try {
    for (const move of led.moves) {
      const standing = await table.standing(move.standing);
      if (!standsLike(standing, move.standing)) return { script, play, moves, end: standing, view: await table.view() };
      const acts: Act[] = [];
      for (const act of move.acts) acts.push(await received(table, act));
      moves.push({ standing, acts });
    }
    return { script, play, moves, end: await table.standing(led.end), view: await table.view() };
  } finally {
    await table.close();
  }
}

export function standsLike(standing: Standing, like: Standing): boolean {
  const idsOf = ({ open }: Standing): string => open.map(({ id }) => id).join(' ');
  return standing.log.length === like.log.length && idsOf(standing) === idsOf(like);
}
