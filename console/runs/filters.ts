import { defined } from '../../contract/defined';
import { listStatuses } from '../../contract/events';
import type { RunQuery } from '../../client/http/index';

export interface RunFilters extends Pick<RunQuery, 'status' | 'id' | 'agent' | 'startedBy' | 'since' | 'until'> {
  readonly tag: readonly string[];
}

const filterNames = ['status', 'id', 'agent', 'tag', 'startedBy', 'since', 'until'] as const;

export function filtersIn(query: URLSearchParams): RunFilters {
  const text = (name: string): string | undefined => query.get(name)?.trim() || undefined;
  return {
    ...defined({
      status: listStatuses.find((known) => known === query.get('status')),
      id: text('id'),
      agent: text('agent'),
      startedBy: text('startedBy'),
      since: text('since'),
      until: text('until'),
    }),
    tag: query.getAll('tag').filter((tag) => tag !== ''),
  };
}

export function queryOf({ tag, ...filters }: RunFilters): RunQuery {
  return { ...filters, ...(tag.length === 0 ? {} : { tag }) };
}

/** Independent of the order in the URL. Empty: no filter. */
export function filterText(filters: RunFilters): string {
  const set = new URLSearchParams();
  for (const name of filterNames) for (const one of [filters[name] ?? []].flat()) set.append(name, one);
  return set.toString();
}
