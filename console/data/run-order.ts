import type { ListedRun } from '../../http/index';

/** The order of the service. */
export function compareRuns(one: ListedRun, other: ListedRun): number {
  return one.startedAt === other.startedAt
    ? one.id < other.id
      ? -1
      : one.id > other.id
        ? 1
        : 0
    : one.startedAt < other.startedAt
      ? 1
      : -1;
}
