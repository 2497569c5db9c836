import { nameOfSegment } from '../../contract/record/agent-paths';
import type { RunState } from './state';

/** Approvals for the rest of the run that the same agent got elsewhere: in another turn, round of a loop, or as a tool. */
export function waivedElsewhere({ waivers = {} }: Pick<RunState, 'waivers'>, path: readonly string[]): readonly string[] {
  const own = path.join('/');
  const place = placeOf(path);
  return Object.entries(waivers).flatMap(([key, given]) => (key !== own && placeOf(key.split('/')) === place ? given : []));
}

function placeOf(path: readonly string[]): string {
  return path.map(nameOfSegment).join('/');
}
