import type { ListedInterrupt } from '../../client/http/index';
import type { AskingRow } from '../decide/row';
import { policyOf, rowSorts, titleOf } from '../decide/row';
import { inboxTexts } from '../texts/inbox';

export const inboxGroups = ['none', 'policy', 'agent'] as const;
export const interruptKinds = ['approval', 'question', 'in-doubt', 'custom'] as const;

export type InboxView = ReturnType<typeof viewOf>;

export function viewOf(query: URLSearchParams) {
  const text = (name: string): string => query.get(name) ?? '';
  return {
    isForAll: query.get('who') === 'all',
    search: text('q'),
    kind: text('kind'),
    agent: text('agent'),
    policy: text('policy'),
    sort: rowSorts.find((sort) => sort === query.get('sort')) ?? 'oldest',
    group: inboxGroups.find((group) => group === query.get('group')) ?? 'none',
    item: text('item'),
  };
}

const searched = new WeakMap<ListedInterrupt, string>();

function searchTextOf(listed: ListedInterrupt): string {
  const known = searched.get(listed);
  if (known !== undefined) return known;
  const { runId, agent, tags, startedBy = '', interrupt } = listed;
  const content = JSON.stringify(interrupt.kind === 'approval' ? interrupt.input : interrupt.info).slice(0, 4_000);
  const text = [runId, agent, interrupt.agent, titleOf(interrupt), policyOf(interrupt) ?? '', startedBy, ...tags, content]
    .join('\n')
    .toLowerCase();
  searched.set(listed, text);
  return text;
}

export function fitsView({ listed }: AskingRow, { search, kind, agent, policy }: InboxView): boolean {
  if (kind !== '' && listed.interrupt.kind !== kind) return false;
  if (agent !== '' && listed.agent !== agent) return false;
  if (policy !== '' && (policyOf(listed.interrupt) ?? '') !== policy) return false;
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return true;
  const text = searchTextOf(listed);
  return words.every((word) => text.includes(word));
}

/** `hidden`: by filters. `elsewhere`: outside of the list. `unknown`: settled. */
export function absenceOf(view: InboxView, rows: readonly AskingRow[], hasMore: boolean): 'hidden' | 'elsewhere' | 'unknown' {
  if (rows.some(({ key }) => key === view.item)) return 'hidden';
  return view.isForAll && !hasMore ? 'unknown' : 'elsewhere';
}

export type InboxLine = { readonly row: AskingRow } | { readonly heading: string; readonly count: number };

export function linesOf(rows: readonly AskingRow[], group: InboxView['group']): readonly InboxLine[] {
  if (group === 'none') return rows.map((row) => ({ row }));
  const groups = new Map<string, AskingRow[]>();
  for (const row of rows) {
    const name = row.isFresh === true ? inboxTexts.freshGroup : groupOf(row, group);
    const inside = groups.get(name);
    if (inside === undefined) groups.set(name, [row]);
    else inside.push(row);
  }
  return [...groups].flatMap(([heading, inside]) => [{ heading, count: inside.length }, ...inside.map((row) => ({ row }))]);
}

function groupOf({ listed }: AskingRow, group: 'policy' | 'agent'): string {
  return group === 'agent' ? listed.agent : (policyOf(listed.interrupt) ?? inboxTexts.noPolicy);
}
