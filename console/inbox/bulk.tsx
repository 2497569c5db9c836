import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ListedInterrupt } from '../../http/index';
import { Button } from '../parts/button';
import { Dialog } from '../parts/dialog';
import { visibleText } from '../parts/plain-text';
import { texts } from '../texts';
import { decideTexts } from '../texts/decide';
import { inboxTexts } from '../texts/inbox';
import { decidable, decideAll } from '../decide/decide';
import { titleOf } from '../decide/row';

interface BulkBarProps {
  readonly selected: readonly ListedInterrupt[];
  readonly onClear: () => void;
}

/** What can be done with the rows that are selected. */
export function BulkBar({ selected, onClear }: BulkBarProps): JSX.Element {
  const [asked, setAsked] = useState<{ readonly type: 'approve' | 'reject'; readonly all: readonly ListedInterrupt[] } | undefined>(
    undefined,
  );
  const able = decidable(selected, Date.now());
  return (
    <div class="bulk" role="group" aria-label={inboxTexts.selected(selected.length)}>
      <strong>{inboxTexts.selected(selected.length)}</strong>
      <span class="spacer" />
      <Button kind="primary" disabled={able.length === 0} onClick={() => setAsked({ type: 'approve', all: able })}>
        {inboxTexts.bulkApprove(able.length)}
      </Button>
      <Button kind="danger" disabled={able.length === 0} onClick={() => setAsked({ type: 'reject', all: able })}>
        {inboxTexts.bulkReject(able.length)}
      </Button>
      <Button kind="quiet" onClick={onClear}>
        {inboxTexts.clear}
      </Button>
      {asked !== undefined && (
        <BulkDialog
          {...asked}
          left={selected.length - asked.all.length}
          onClose={() => setAsked(undefined)}
          onDone={() => {
            setAsked(undefined);
            onClear();
          }}
        />
      )}
    </div>
  );
}

interface BulkDialogProps {
  readonly type: 'approve' | 'reject';
  /** As they were when somebody asked: each decision is bound to these arguments. */
  readonly all: readonly ListedInterrupt[];
  readonly left: number;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function BulkDialog({ type, all, left, onClose, onDone }: BulkDialogProps): JSX.Element {
  const [feedback, setFeedback] = useState('');
  const counts = new Map<string, number>();
  for (const { interrupt } of all) counts.set(titleOf(interrupt), (counts.get(titleOf(interrupt)) ?? 0) + 1);
  const isApproval = type === 'approve';
  const act = (event: Event): void => {
    event.preventDefault();
    decideAll(all, isApproval ? { type } : { type: 'reject', ...(feedback === '' ? {} : { feedback }) });
    onDone();
  };
  return (
    <Dialog title={isApproval ? inboxTexts.bulkTitleApprove(all.length) : inboxTexts.bulkTitleReject(all.length)} onClose={onClose}>
      <form class="form" onSubmit={act}>
        <ul class="plain-list">
          {[...counts].map(([tool, count]) => (
            <li key={tool}>{inboxTexts.bulkLine(visibleText(tool), count)}</li>
          ))}
        </ul>
        {left > 0 && <p class="muted">{inboxTexts.bulkLeft(left)}</p>}
        {!isApproval && (
          <label class="field">
            <span>{decideTexts.feedback}</span>
            <textarea rows={3} value={feedback} onInput={({ currentTarget }) => setFeedback(currentTarget.value)} />
          </label>
        )}
        <div class="actions">
          <Button onClick={onClose}>{texts.parts.cancel}</Button>
          <Button kind={isApproval ? 'primary' : 'danger'} type="submit">
            {isApproval ? inboxTexts.bulkApprove(all.length) : inboxTexts.bulkReject(all.length)}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
