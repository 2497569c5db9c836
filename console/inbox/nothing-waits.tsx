import type { JSX } from 'preact';
import { identity } from '../data/identity';
import { Button } from '../parts/button';
import { EmptyState } from '../parts/empty-state';
import { hidePart, hrefOf, setQuery } from '../routes';
import { decideTexts } from '../texts/decide';
import { inboxTexts } from '../texts/inbox';
import type { InboxView } from './rows';

/** What the list says when it has nothing: because of filters, or because nothing waits. */
export function NothingWaits({ view, isFiltered }: { readonly view: InboxView; readonly isFiltered: boolean }): JSX.Element {
  if (isFiltered)
    return (
      <EmptyState title={inboxTexts.emptyFilter}>
        <Button onClick={() => setQuery({ q: undefined, kind: undefined, agent: undefined, policy: undefined })}>
          {inboxTexts.clearFilters}
        </Button>
      </EmptyState>
    );
  const isMine = identity.value.name !== '' && !view.isForAll;
  return (
    <EmptyState title={isMine ? inboxTexts.emptyMine : inboxTexts.emptyAll}>
      <p>{isMine ? inboxTexts.emptyMineText : inboxTexts.emptyAllText}</p>
      {isMine && <Button onClick={() => setQuery({ who: 'all' })}>{inboxTexts.showAll}</Button>}
      <a class="button" href={hrefOf('try')}>
        {inboxTexts.tryAgent}
      </a>
    </EmptyState>
  );
}

/** What the URL names and is not there any more. */
export function GoneDetail({ item }: { readonly item: string }): JSX.Element {
  const runId = item.slice(0, item.indexOf('/'));
  return (
    <EmptyState title={decideTexts.gone.unknown}>
      <p>
        <a href={hrefOf('runs', runId)}>{decideTexts.openRun} →</a>
      </p>
      <Button onClick={() => hidePart({ item: undefined })}>{inboxTexts.back}</Button>
    </EmptyState>
  );
}
