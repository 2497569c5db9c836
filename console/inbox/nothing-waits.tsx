import { identity } from '../data/identity';
import { Button } from '../parts/button';
import { EmptyState } from '../parts/empty-state';
import { hidePart, hrefOf, setQuery } from '../routes';
import { decideTexts } from '../texts/decide';
import { inboxTexts } from '../texts/inbox';
import type { InboxView, absenceOf } from './rows';

function ClearFilters() {
  const clear = (): void => setQuery({ q: undefined, kind: undefined, agent: undefined, policy: undefined });
  return <Button onClick={clear}>{inboxTexts.clearFilters}</Button>;
}

export function NothingWaits({ view, isFiltered }: { readonly view: InboxView; readonly isFiltered: boolean }) {
  if (isFiltered)
    return (
      <EmptyState title={inboxTexts.emptyFilter}>
        <ClearFilters />
      </EmptyState>
    );
  const isMine = identity.value.name !== '' && !view.isForAll;
  return (
    <EmptyState
      title={isMine ? inboxTexts.emptyMine : inboxTexts.emptyAll}
      text={isMine ? inboxTexts.emptyMineText : inboxTexts.emptyAllText}
    >
      {isMine && <Button onClick={() => setQuery({ who: 'all' })}>{inboxTexts.showAll}</Button>}
      <a class="button" href={hrefOf('try')}>
        {inboxTexts.tryAgent}
      </a>
    </EmptyState>
  );
}

export function GoneDetail({ item, why }: { readonly item: string; readonly why: ReturnType<typeof absenceOf> }) {
  const runId = item.slice(0, item.indexOf('/'));
  return (
    <EmptyState title={why === 'unknown' ? decideTexts.gone.unknown : inboxTexts.absent[why]}>
      <p>
        <a href={hrefOf('runs', runId)}>{decideTexts.openRun} →</a>
      </p>
      {why === 'hidden' && <ClearFilters />}
      {why === 'elsewhere' && <Button onClick={() => setQuery({ who: 'all' })}>{inboxTexts.showAll}</Button>}
      <Button onClick={() => hidePart({ item: undefined })}>{inboxTexts.back}</Button>
    </EmptyState>
  );
}
