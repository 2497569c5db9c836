import { computed, signal } from '@preact/signals';
import { isWide } from './data/screen';

/** The pages, by the first part of the hash. */
export const pageNames = ['inbox', 'runs', 'try', 'service'] as const;
export type PageName = (typeof pageNames)[number];

/** `#/runs/ID?tab=events`: a page, what it is about, and its filters. */
export interface ConsoleRoute {
  readonly page: PageName;
  readonly id?: string;
  readonly query: URLSearchParams;
}

const hash = signal(location.hash);
addEventListener('hashchange', () => (hash.value = location.hash));

export const route = computed(() => routeOf(hash.value));

/** The page and what it is about, without its filters, which change more often. */
export const shownPage = computed(() => hrefOf(route.value.page, route.value.id));

export function routeOf(text: string): ConsoleRoute {
  const [path = '', query = ''] = text.replace(/^#?\/?/, '').split(/\?(.*)/s);
  const [name = '', ...rest] = path.split('/');
  const page = pageNames.find((known) => known === name) ?? 'inbox';
  const id = decoded(rest.join('/'));
  return { page, ...(id === '' ? {} : { id }), query: new URLSearchParams(query) };
}

export type QueryValues = Readonly<Record<string, string | readonly string[] | undefined>>;

export function hrefOf(page: PageName, id?: string, query: QueryValues | URLSearchParams = {}): string {
  const set = query instanceof URLSearchParams ? query : searchOf(query);
  const text = set.toString();
  return `#/${page}${id === undefined ? '' : `/${encodeURIComponent(id)}`}${text === '' ? '' : `?${text}`}`;
}

export function goTo(page: PageName, id?: string, query: QueryValues | URLSearchParams = {}): void {
  location.hash = hrefOf(page, id, query);
}

/** Changes filters of the page that is shown. It makes no step of the history: the back button leaves the page. */
export function setQuery(changes: QueryValues): void {
  const { page, id, query } = route.peek();
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    next.delete(name);
    for (const one of value === undefined ? [] : typeof value === 'string' ? [value] : value) if (one !== '') next.append(name, one);
  }
  history.replaceState(history.state, '', hrefOf(page, id, next));
  hash.value = location.hash;
}

/** Shows a part of the page. Where it covers the page, as on a phone, the back button takes it away again. */
export function showPart(changes: QueryValues): void {
  if (!isWide.peek() && !coversPage()) history.pushState({ coversPage: true }, '', location.href);
  setQuery(changes);
}

/** Takes it away, by a button of the page. */
export function hidePart(changes: QueryValues): void {
  if (coversPage()) history.back();
  else setQuery(changes);
}

function coversPage(): boolean {
  return (history.state as { readonly coversPage?: unknown } | null)?.coversPage === true;
}

function searchOf(values: QueryValues): URLSearchParams {
  const set = new URLSearchParams();
  for (const [name, value] of Object.entries(values))
    for (const one of value === undefined ? [] : typeof value === 'string' ? [value] : value) if (one !== '') set.append(name, one);
  return set;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
