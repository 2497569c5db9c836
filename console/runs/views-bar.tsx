import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../parts/button';
import { Dialog } from '../parts/dialog';
import { visibleText } from '../parts/plain-text';
import { Named } from '../parts/said';
import { toast } from '../parts/toast';
import { hrefOf } from '../routes';
import { texts } from '../texts';
import { runsTexts } from '../texts/runs';
import { removeView, saveView, savedViews } from './views';

/** Filters under a name: links, and a button for those of now. */
export function ViewsBar({ query }: { readonly query: string }): JSX.Element | null {
  const [isNaming, setNaming] = useState(false);
  const views = savedViews.value;
  const isSaved = views.some((view) => view.query === query);
  if (views.length === 0 && query === '') return null;
  const remove = (name: string): void => {
    const removed = removeView(name);
    if (removed === undefined) return;
    toast(runsTexts.viewRemoved(visibleText(name)), {
      action: { label: texts.parts.undo, act: () => saveView(removed.name, removed.query) },
    });
  };
  return (
    <div class="views">
      <ul aria-label={runsTexts.views}>
        {views.map((view) => (
          <li key={view.name}>
            <a href={hrefOf('runs', undefined, new URLSearchParams(view.query))} aria-current={view.query === query ? 'true' : undefined}>
              <Named text={view.name} />
            </a>
            <button
              type="button"
              class="view-remove"
              aria-label={runsTexts.removeView(visibleText(view.name))}
              title={runsTexts.removeView(visibleText(view.name))}
              onClick={() => remove(view.name)}
            >
              ✕
            </button>
          </li>
        ))}
      </ul>
      {query !== '' && !isSaved && (
        <button type="button" class="link" onClick={() => setNaming(true)}>
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

function NameView({ query, onClose }: { readonly query: string; readonly onClose: () => void }): JSX.Element {
  const [name, setName] = useState('');
  const save = (event: Event): void => {
    event.preventDefault();
    if (name.trim() === '') return;
    saveView(name.trim(), query);
    onClose();
  };
  return (
    <Dialog title={runsTexts.saveView} onClose={onClose}>
      <form class="form" onSubmit={save}>
        <label class="field">
          <span>{runsTexts.viewName}</span>
          <input
            value={name}
            maxLength={60}
            required
            autofocus
            autocomplete="off"
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
          <small class="muted">{runsTexts.viewHint}</small>
        </label>
        <div class="actions">
          <Button onClick={onClose}>{texts.parts.cancel}</Button>
          <Button kind="primary" type="submit" disabled={name.trim() === ''}>
            {runsTexts.saveViewDo}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
