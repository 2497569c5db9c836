import { computed, signal } from '@preact/signals';
import { isWide } from './data/screen';

export const pageNames = ['inbox', 'runs', 'try', 'automation', 'service'] as const;
export type PageName = (typeof pageNames)[number];

/** Such as `#/runs/ID?tab=events`. */
interface ConsoleRoute {
  readonly page: PageName;
  readonly id?: string;
  readonly query: URLSearchParams;
}

const hash = signal(location.hash);
addEventListener('hashchange', () => (hash.value = location.hash));

export const route = computed(() => routeOf(hash.value));

export const shownPage = computed(() => hrefOf(route.value.page, route.value.id));

export function routeOf(text: string): ConsoleRoute {
  const [path = '', query = ''] = text.replace(/^#?\/?/, '').split(/\?(.*)/s);
  const [name = '', ...rest] = path.split('/');
  const page = pageNames.find((known) => known === name) ?? 'inbox';
  const id = decoded(rest.join('/'));
  return { page, ...(id === '' ? {} : { id }), query: new URLSearchParams(query) };
}

type QueryValues = Readonly<Record<string, string | readonly string[] | undefined>>;

export function hrefOf(page: PageName, id?: string, query: QueryValues | URLSearchParams = {}): string {
  const text = (query instanceof URLSearchParams ? query : withValues(new URLSearchParams(), query)).toString();
  return `#/${page}${id === undefined ? '' : `/${encodeURIComponent(id)}`}${text === '' ? '' : `?${text}`}`;
}

export function goTo(page: PageName, id?: string, query: QueryValues | URLSearchParams = {}): void {
  location.hash = hrefOf(page, id, query);
}

/** Adds no step to the history, so the back button still leaves the page. */
export function setQuery(changes: QueryValues): void {
  const { page, id, query } = route.peek();
  history.replaceState(history.state, '', hrefOf(page, id, withValues(query, changes)));
  hash.value = location.hash;
}

/** Where the part covers the page, as on a phone, the back button hides the part. */
export function showPart(changes: QueryValues): void {
  if (!isWide.peek() && !coversPage()) history.pushState({ coversPage: true }, '', location.href);
  setQuery(changes);
}

export function hidePart(changes: QueryValues): void {
  if (coversPage()) history.back();
  else setQuery(changes);
}

function coversPage(): boolean {
  return (history.state as { readonly coversPage?: unknown } | null)?.coversPage === true;
}

export function withValues(query: URLSearchParams, values: QueryValues): URLSearchParams {
  const next = new URLSearchParams(query);
  for (const [name, value = []] of Object.entries(values)) {
    next.delete(name);
    for (const one of [value].flat()) if (one !== '') next.append(name, one);
  }
  return next;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
