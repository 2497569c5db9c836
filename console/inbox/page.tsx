import { useState } from 'preact/hooks';
import { isWide } from '../data/screen';
import { Detail } from '../decide/detail';
import { isAsking } from '../decide/decide';
import { Dialog } from '../parts/dialog';
import { EmptyState } from '../parts/error-note';
import { useKeys } from '../parts/keyboard';
import { useSelection } from '../parts/use-selection';
import { route } from '../routes';
import { texts } from '../texts';
import { decideTexts } from '../texts/decide';
import { inboxTexts } from '../texts/inbox';
import type { InboxListProps } from './list';
import { InboxList, GoneDetail } from './list';
import { absenceOf, viewOf } from './rows';
import { useChoice } from './use-choice';
import { useRows } from './use-rows';

export function InboxPage() {
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
    <div class="inbox full">
      <h1 class="unseen">{texts.shell.inbox}</h1>
      {(isWide.value || view.item === '') && <InboxList {...{ view, inbox, choice, selection }} onHelp={() => setHelp(true)} />}
      {(isWide.value || view.item !== '') && (
        <section class="inbox-detail" aria-label={decideTexts.openRun}>
          <InboxDetail {...{ view, inbox, choice }} />
        </section>
      )}
      {isHelp && <KeyboardHelp onClose={() => setHelp(false)} />}
    </div>
  );
}

function InboxDetail({ view, inbox, choice }: Pick<InboxListProps, 'view' | 'inbox' | 'choice'>) {
  const { chosen, choose, goOn } = choice;
  const { listed, more, rows, shown } = inbox;
  if (chosen !== undefined) {
    const back = isWide.value ? {} : { back: { label: inboxTexts.back, act: () => choose(undefined) } };
    return <Detail key={chosen.key} row={chosen} {...back} onGiven={goOn} />;
  }
  if (view.item !== '' && listed !== undefined) return <GoneDetail item={view.item} why={absenceOf(view, rows, more)} />;
  return shown.length === 0 ? null : <EmptyState title={inboxTexts.chooseOne} text={inboxTexts.chooseOneText} />;
}

function KeyboardHelp({ onClose }: { readonly onClose: () => void }) {
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
