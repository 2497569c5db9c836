import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { isWide } from '../data/screen';
import { Detail } from '../decide/detail';
import { isAsking } from '../decide/keys';
import { NameDialog } from '../decide/name-dialog';
import { Dialog } from '../parts/dialog';
import { EmptyState } from '../parts/empty-state';
import { useKeys } from '../parts/keyboard';
import { useSelection } from '../parts/use-selection';
import { route } from '../routes';
import { decideTexts } from '../texts/decide';
import { inboxTexts } from '../texts/inbox';
import { InboxList } from './list';
import { GoneDetail } from './nothing-waits';
import type { InboxView } from './rows';
import { absenceOf, viewOf } from './rows';
import type { RowChoice } from './use-choice';
import { useChoice } from './use-choice';
import type { InboxRows } from './use-rows';
import { useRows } from './use-rows';

export function InboxPage(): JSX.Element {
  const view = viewOf(route.value.query);
  const inbox = useRows(view);
  const choice = useChoice(inbox.shown, view.item);
  const selection = useSelection();
  const [isHelp, setHelp] = useState(false);
  useKeys({
    ...choice.keys,
    x: () => {
      const row = choice.chosenNow();
      if (row !== undefined && isAsking(row)) selection.toggle(row.key);
    },
    '?': () => setHelp(true),
    '/': () => document.getElementById('inbox-search')?.focus(),
  });
  return (
    <div class="inbox">
      <h1 class="unseen">{inboxTexts.title}</h1>
      {(isWide.value || view.item === '') && <InboxList {...{ view, inbox, choice, selection }} onHelp={() => setHelp(true)} />}
      {(isWide.value || view.item !== '') && (
        <section class="inbox-detail" aria-label={decideTexts.openRun}>
          <InboxDetail {...{ view, inbox, choice }} />
        </section>
      )}
      {isHelp && <KeyboardHelp onClose={() => setHelp(false)} />}
      <NameDialog />
    </div>
  );
}

interface InboxDetailProps {
  readonly view: InboxView;
  readonly inbox: InboxRows;
  readonly choice: RowChoice;
}

function InboxDetail({ view, inbox, choice }: InboxDetailProps): JSX.Element | null {
  const { chosen, choose, goOn } = choice;
  const { listed, more, rows, shown } = inbox;
  if (chosen !== undefined) {
    const back = isWide.value ? {} : { back: { label: inboxTexts.back, act: () => choose(undefined) } };
    return <Detail key={chosen.key} row={chosen} {...back} onGiven={goOn} />;
  }
  if (view.item !== '' && listed !== undefined) return <GoneDetail item={view.item} why={absenceOf(view, rows, more)} />;
  if (shown.length === 0) return null;
  return (
    <EmptyState title={inboxTexts.chooseOne}>
      <p>{inboxTexts.chooseOneText}</p>
    </EmptyState>
  );
}

function KeyboardHelp({ onClose }: { readonly onClose: () => void }): JSX.Element {
  return (
    <Dialog title={inboxTexts.help} onClose={onClose}>
      <dl class="keys">
        {inboxTexts.keys.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
