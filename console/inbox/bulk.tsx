import { useState } from 'preact/hooks';
import type { ListedInterrupt } from '../../client/http/index';
import { Button } from '../parts/button';
import { FormDialog } from '../parts/dialog';
import { TextField } from '../parts/fields';
import { filled, visibleText } from '../parts/plain-text';
import { texts } from '../texts';
import { decideTexts } from '../texts/decide';
import { inboxTexts } from '../texts/inbox';
import { decidable, decideAll } from '../decide/decide';
import { titleOf } from '../decide/row';

interface BulkBarProps {
  readonly selected: readonly ListedInterrupt[];
  readonly onClear: () => void;
}

export function BulkBar({ selected, onClear }: BulkBarProps) {
  const [asked, setAsked] = useState<Pick<BulkDialogProps, 'type' | 'all'>>();
  const able = decidable(selected, Date.now());
  return (
    <div class="bulk flow" role="group" aria-label={texts.parts.selected(selected.length)}>
      <strong>{texts.parts.selected(selected.length)}</strong>
      <span class="spacer" />
      <Button kind="primary" needs="runs:answer" disabled={able.length === 0} onClick={() => setAsked({ type: 'approve', all: able })}>
        {inboxTexts.bulkApprove(able.length)}
      </Button>
      <Button kind="danger" needs="runs:answer" disabled={able.length === 0} onClick={() => setAsked({ type: 'reject', all: able })}>
        {inboxTexts.bulkReject(able.length)}
      </Button>
      <Button kind="quiet" onClick={onClear}>
        {texts.parts.clear}
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
  readonly all: readonly ListedInterrupt[];
  readonly left: number;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function BulkDialog({ type, all, left, onClose, onDone }: BulkDialogProps) {
  const [feedback, setFeedback] = useState('');
  const counts = new Map<string, number>();
  for (const { interrupt } of all) counts.set(titleOf(interrupt), (counts.get(titleOf(interrupt)) ?? 0) + 1);
  const isApproval = type === 'approve';
  const act = (): void => {
    decideAll(all, isApproval ? { type } : { type: 'reject', ...filled({ feedback }) });
    onDone();
  };
  return (
    <FormDialog
      title={isApproval ? inboxTexts.bulkTitleApprove(all.length) : inboxTexts.bulkTitleReject(all.length)}
      submit={isApproval ? inboxTexts.bulkApprove(all.length) : inboxTexts.bulkReject(all.length)}
      {...(isApproval ? {} : { kind: 'danger' })}
      onClose={onClose}
      onSubmit={act}
    >
      <ul>
        {[...counts].map(([tool, count]) => (
          <li key={tool}>{inboxTexts.bulkLine(visibleText(tool), count)}</li>
        ))}
      </ul>
      {left > 0 && <p class="muted">{inboxTexts.bulkLeft(left)}</p>}
      {!isApproval && <TextField label={decideTexts.feedback} value={feedback} onText={setFeedback} rows={3} />}
    </FormDialog>
  );
}
