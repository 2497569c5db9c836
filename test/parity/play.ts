import type { RunEvent, RunView } from '../../contract/events';
import { isolatedTeams } from './agent-names';
import { answerTo } from './decide';
import type { Play } from './plays';
import { beginPlay } from './plays';
import type { Script } from './script';
import type { Act, Move, Standing, Table } from './table';
import { hasFailed, received } from './table';

export interface Part {
  readonly place: string;
  readonly log: readonly RunEvent[];
  readonly view: RunView;
}

export interface Played {
  readonly script: Script;
  readonly play: Play;
  readonly moves: readonly Move[];
  readonly end: Standing;
  readonly view: RunView;
  readonly parts: readonly Part[];
}

export interface Compared {
  readonly memory: Played;
  readonly server: Played;
}

export type Seat = (script: Script, runId: string, places: readonly string[]) => Promise<Table>;

const mostMoves = 100;

export async function lead(script: Script, runId: string, seat: Seat): Promise<Played> {
  const play = beginPlay(runId, script);
  const table = await seat(script, runId, []);
  const { decisions } = script;
  const moves: Move[] = [];
  let decided = 0;
  let retries = 0;
  for (;;) {
    const standing = await table.standing();
    const { gaveUp } = script;
    if (hasFailed(standing.log) && retries < (script.retried ?? 0)) {
      retries += 1;
      moves.push({ standing, acts: [await received(table, { do: 'retry' })] });
      continue;
    }
    const isLeft = gaveUp !== undefined && decided >= gaveUp.after;
    if (standing.open.length === 0 || (isLeft && !gaveUp.cancels))
      return { script, play, moves, end: standing, view: await table.view(), parts: await table.parts() };
    if (moves.length === mostMoves) throw new Error(`The run of the script ${script.name} asks for ever.`);
    const acts: Act[] = [];
    if (isLeft) acts.push(await received(table, { do: 'cancel' }));
    else {
      if (script.borders) acts.push(await received(table, { do: 'border' }));
      // Other limits end in a moment or after days, so only `hurried` waits for them.
      const late = script.agent === 'hurried' && standing.open.some(({ deadline }) => deadline !== undefined);
      if (script.away === true) acts.push(await received(table, { do: 'leave', late }));
      for (const interrupt of script.together || late ? standing.open : standing.open.slice(0, 1)) {
        const act = { do: 'answer', id: interrupt.id, ...answerTo(interrupt, decisions[decided] ?? 'yes') } as const;
        acts.push(await received(table, act));
        if (script.twice?.includes(decided) === true) acts.push(await received(table, act));
        decided += 1;
      }
      if (script.away === true) acts.push(await received(table, { do: 'come back' }));
    }
    moves.push({ standing, acts });
  }
}

export async function follow(led: Played, runId: string, seat: Seat): Promise<Played> {
  const { script } = led;
  const play = beginPlay(runId, script);
  const table = await seat(
    script,
    runId,
    led.parts.map(({ place }) => place),
  );
  const moves: Move[] = [];
  const ending = async (end: Standing): Promise<Played> => ({
    script,
    play,
    moves,
    end,
    view: await table.view(),
    parts: await table.parts(),
  });
  try {
    for (const move of led.moves) {
      const standing = await table.standing(move.standing);
      if (!standsLike(standing, move.standing)) return await ending(standing);
      const acts: Act[] = [];
      for (const act of move.acts) acts.push(await received(table, act));
      moves.push({ standing, acts });
    }
    return await ending(await table.standing(led.end));
  } finally {
    await table.close();
  }
}

export function standsLike(standing: Standing, like: Standing): boolean {
  const idsOf = ({ open }: Standing): string => open.map(({ id }) => id).join(' ');
  return standing.log.length === like.log.length && idsOf(standing) === idsOf(like);
}

export function faultsOf({ script, moves, play }: Played): readonly string[] {
  const faults: string[] = [];
  for (const { acts } of moves)
    for (const act of acts)
      if (act.do === 'border' && !act.crossed && !isolatedTeams.includes(script.agent) && script.agent !== 'frontDesk')
        faults.push('The run waits for people only, and does not go on as new.');
  const first = new Map<string, string>();
  for (const { lane, address, attempt, request } of play.asked) {
    if (attempt > 1 || script.retried !== undefined) continue;
    const [key, text] = [`${lane} ${address}`, JSON.stringify(request)];
    if (first.has(key)) faults.push(`Two calls of a model have the address ${address}.`);
    first.set(key, text);
  }
  return faults;
}
