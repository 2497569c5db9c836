import type { JSX } from 'preact';
import { Detail } from '../decide/detail';
import type { AskingRow } from '../decide/row';
import { runTexts } from '../texts/run';

interface DecisionProps {
  readonly row: AskingRow;
  readonly onClose: () => void;
  readonly onGiven: () => void;
}

export function Decision({ row, onClose, onGiven }: DecisionProps): JSX.Element {
  return (
    <aside class="run-aside" aria-label={runTexts.waits.title}>
      <Detail key={row.key} row={row} isInRun back={{ label: runTexts.waits.close, act: onClose }} onGiven={onGiven} />
    </aside>
  );
}
