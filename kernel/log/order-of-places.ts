import type { RunState } from '../run/state';

/** Compares two places of a run: calls of one message by position, parallel agents by definition, turns by number. */
export function orderOfPlaces(state: Pick<RunState, 'progress'>): (one: string, other: string) => number {
  return (one, other) => {
    if (one === other) return 0;
    const [ones, others] = [one.split('/'), other.split('/')];
    const at = ones.findIndex((segment, position) => segment !== others[position]);
    const [mine, theirs] = [ones[at], others[at]];
    if (mine === undefined || theirs === undefined) return ones.length - others.length;
    const branches = state.progress?.[ones.slice(0, at).join('/')]?.branches;
    return branches === undefined ? inNumbers(mine, theirs) : branches.indexOf(mine) - branches.indexOf(theirs);
  };
}

/** `lookup.2` is the call at position 2, and `t12` is turn 12. */
function inNumbers(one: string, other: string): number {
  const [mine, theirs] = [numberIn(one), numberIn(other)];
  if (mine !== theirs) return mine - theirs;
  return one < other ? -1 : 1;
}

function numberIn(segment: string): number {
  return Number(/(?:^t|\.|@)(\d+)$/u.exec(segment)?.[1] ?? -1);
}
