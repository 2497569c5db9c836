import { signal } from '@preact/signals';
import { readStored, writeStored } from '../data/theme';

export interface SavedView {
  readonly name: string;
  readonly query: string;
}

const key = 'holdfast.views';
const most = 50;

export const savedViews = signal<readonly SavedView[]>(stored());

export function saveView(name: string, query: string): void {
  keep([...savedViews.peek().filter((view) => view.name !== name), { name, query }].slice(-most));
}

export function removeView(name: string): void {
  keep(savedViews.peek().filter((view) => view.name !== name));
}

function keep(views: readonly SavedView[]): void {
  savedViews.value = views;
  writeStored(key, JSON.stringify(views));
}

function stored(): readonly SavedView[] {
  try {
    const views: unknown = JSON.parse(readStored(key) ?? '[]');
    return (Array.isArray(views) ? views : []).flatMap((view: unknown) => {
      const { name, query } = (view ?? {}) as { name?: unknown; query?: unknown };
      return typeof name === 'string' && typeof query === 'string' ? [{ name, query }] : [];
    });
  } catch {
    return [];
  }
}

addEventListener('storage', (event) => {
  if (event.key === key) savedViews.value = stored();
});
