import type { ListedRun } from '../../client/http/index';

export function compareRuns(one: ListedRun, other: ListedRun): number {
  if (one.startedAt !== other.startedAt) return one.startedAt < other.startedAt ? 1 : -1;
  return one.id === other.id ? 0 : one.id < other.id ? -1 : 1;
}
