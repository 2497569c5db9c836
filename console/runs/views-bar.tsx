import { useState } from 'preact/hooks';
import { IconButton } from '../parts/button';
import { FormDialog } from '../parts/dialog';
import { TextField } from '../parts/fields';
import { visibleText } from '../parts/plain-text';
import { Named } from '../parts/said';
import { toast } from '../parts/toast';
import { hrefOf } from '../routes';
import { texts } from '../texts';
import { runsTexts } from '../texts/runs';
import { signal } from '@preact/signals';
import { readStored, writeStored } from '../data/theme';

export function ViewsBar({ query }: { readonly query: string }) {
  const [isNaming, setNaming] = useState(false);
  const views = savedViews.value;
  const isSaved = views.some((view) => view.query === query);
  if (views.length === 0 && query === '') return null;
  const remove = (view: SavedView): void => {
    removeView(view.name);
    toast(runsTexts.viewRemoved(visibleText(view.name)), {
      action: { label: texts.parts.undo, act: () => saveView(view.name, view.query) },
    });
  };
  return (
    <div class="views flow wrap">
      <ul aria-label={runsTexts.views}>
        {views.map((view) => (
          <li key={view.name}>
            <a href={hrefOf('runs', undefined, new URLSearchParams(view.query))} aria-current={view.query === query ? 'true' : undefined}>
              <Named text={view.name} />
            </a>
            <IconButton label={runsTexts.removeView(visibleText(view.name))} icon="close" onClick={() => remove(view)} isSmall />
          </li>
        ))}
      </ul>
      {query !== '' && !isSaved && (
        <button type="button" class="link bare" onClick={() => setNaming(true)}>
          {runsTexts.saveView}
        </button>
      )}
      {query !== '' && (
        <a class="link" href={hrefOf('runs')}>
          {runsTexts.clearFilters}
        </a>
      )}
      {isNaming && <NameView query={query} onClose={() => setNaming(false)} />}
    </div>
  );
}

function NameView({ query, onClose }: { readonly query: string; readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const save = (): void => {
    saveView(name.trim(), query);
    onClose();
  };
  return (
    <FormDialog title={runsTexts.saveView} submit={texts.parts.save} isReady={name.trim() !== ''} onClose={onClose} onSubmit={save}>
      <TextField label={runsTexts.viewName} value={name} onText={setName} hint={runsTexts.viewHint} maxLength={60} required autofocus />
    </FormDialog>
  );
}

interface SavedView {
  readonly name: string;
  readonly query: string;
}

const key = 'holdfast.views';
const most = 50;

const savedViews = signal<readonly SavedView[]>(stored());

function saveView(name: string, query: string): void {
  keep([...savedViews.peek().filter((view) => view.name !== name), { name, query }].slice(-most));
}

function removeView(name: string): void {
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
