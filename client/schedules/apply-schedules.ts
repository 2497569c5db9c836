import { HoldfastError } from '../../contract/errors';
import type { MaybePromise } from '../../contract/maybe-promise';
import type { ScheduleMark, WantedSchedule } from './schedule-spec';
import type { NextSchedule, ScheduleServer, ScheduleState, StoredSchedule } from './schedule-server';

export const removedNote = 'removed from the configuration';

/** `taken`: the name belongs to a schedule of a client or of another task queue. */
export type AppliedAct = 'made' | 'changed' | 'paused' | 'resumed' | 'same' | 'taken';

/** Changes that come in between lead to another round. */
const mostRounds = 20;

/** `wanted` undefined: the configuration has no such schedule. */
export function actOf(now: StoredSchedule | undefined, wanted: WantedSchedule | undefined, taskQueue: string): AppliedAct {
  if (now === undefined) return wanted === undefined ? 'same' : 'made';
  if (now.mark.source !== 'config' || now.action.taskQueue !== taskQueue) return wanted === undefined ? 'same' : 'taken';
  if (wanted === undefined) return now.state.paused ? 'same' : 'paused';
  if (now.mark.hash !== wanted.mark.hash) return 'changed';
  return isRemoved(now) && wanted.mark.paused !== true ? 'resumed' : 'same';
}

function isRemoved({ state: { paused, note } }: StoredSchedule): boolean {
  return paused && note === removedNote;
}

/** A pause and a note by a person stay, unless the new text says another pause or note than the earlier text. */
export function stateAfter(now: StoredSchedule, { paused = false, note = '' }: Pick<ScheduleMark, 'paused' | 'note'>): ScheduleState {
  const { mark, state } = now;
  if (isRemoved(now) || paused !== (mark.paused ?? false)) return { paused, note };
  return { paused: state.paused, note: note === (mark.note ?? '') ? (state.note ?? '') : note };
}

export function changeOf(wanted: WantedSchedule | undefined): NextSchedule {
  return (now) => {
    if (wanted === undefined) return { state: { paused: true, note: removedNote } };
    const { spec, action, policies, mark } = wanted;
    return { spec, action, state: stateAfter(now, mark), ...(policies === undefined ? {} : { policies }) };
  };
}

/** Any number of services may do so at once. */
export async function applySchedule(
  server: Pick<ScheduleServer, 'find' | 'create' | 'update'>,
  name: string,
  wanted: WantedSchedule | undefined,
  actFor: (now: StoredSchedule | undefined) => MaybePromise<AppliedAct>,
): Promise<AppliedAct> {
  let done: AppliedAct = 'same';
  for (let round = 0; round < mostRounds; round++) {
    const act = await actFor(await server.find(name));
    if (act === 'same') return done;
    if (act === 'taken') return act;
    if (act !== 'made') await server.update(name, changeOf(wanted));
    else if (wanted !== undefined) await server.create(name, wanted);
    done = act;
  }
  throw new HoldfastError('server-busy', `The schedule "${name}" is changed all the time by others.`);
}
