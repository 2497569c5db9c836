import { listStatuses } from '../../contract/events';
import type { ListStatus } from '../../contract/events';
import type { RunQuery } from '../../http/index';

/** The filters of the list of runs, as they stand in the URL. */
export interface RunFilters {
  readonly status?: ListStatus;
  readonly id?: string;
  readonly agent?: string;
  readonly tag: readonly string[];
  readonly startedBy?: string;
  readonly since?: string;
  readonly until?: string;
}

export const filterNames = ['status', 'id', 'agent', 'tag', 'startedBy', 'since', 'until'] as const;

export function filtersIn(query: URLSearchParams): RunFilters {
  const text = (name: string): Record<string, string> => {
    const value = query.get(name)?.trim() ?? '';
    return value === '' ? {} : { [name]: value };
  };
  const status = listStatuses.find((known) => known === query.get('status'));
  return {
    ...(status === undefined ? {} : { status }),
    ...text('id'),
    ...text('agent'),
    ...text('startedBy'),
    ...text('since'),
    ...text('until'),
    tag: query.getAll('tag').filter((tag) => tag !== ''),
  };
}

/** What the service is asked. */
export function queryOf({ tag, ...filters }: RunFilters): RunQuery {
  return { ...filters, ...(tag.length === 0 ? {} : { tag }) };
}

/** The same filters have the same text, in whatever order they stand in the URL. */
export function filterText(filters: RunFilters): string {
  const set = new URLSearchParams();
  for (const name of filterNames) {
    const value = filters[name];
    for (const one of value === undefined ? [] : typeof value === 'string' ? [value] : value) set.append(name, one);
  }
  return set.toString();
}

export function isFiltered(filters: RunFilters): boolean {
  return filterText(filters) !== '';
}
