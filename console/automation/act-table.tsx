import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Action } from '../../contract/access';
import { whyMayNot } from '../data/identity';
import { refreshPolls } from '../data/live';
import { Button } from '../parts/button';
import { ActDialog, Dialog } from '../parts/dialog';
import { ErrorNote, NoAnswer } from '../parts/error-note';
import { Check, TextField } from '../parts/fields';
import { visibleText } from '../parts/plain-text';
import { Table } from '../parts/table';
import { useBusy } from '../parts/use-busy';
import { automationTexts } from '../texts/automation';

export interface RowAct {
  readonly verb: string;
  readonly act: (asked: { readonly note: string; readonly isChecked: boolean }) => Promise<unknown>;
  readonly asks?: { readonly text: string; readonly note?: string; readonly check?: string };
}

export interface ActRow {
  readonly key: string;
  readonly name: string;
  readonly cells: readonly ComponentChildren[];
  readonly acts: readonly RowAct[];
}

interface ActTableProps {
  readonly label: string;
  readonly columns: readonly string[];
  readonly rows: readonly ActRow[] | undefined;
  readonly error: unknown;
  readonly empty: string;
  readonly more?: boolean | undefined;
  readonly needs: Action;
}

export function ActTable({ columns, rows, error, more, needs, ...table }: ActTableProps) {
  const place = useRef<HTMLDivElement>(null);
  const hasActed = useRef(false);
  const [dialog, setDialog] = useState<JSX.Element>();
  const { start } = useBusy();
  // A button that goes with its row leaves the focus nowhere.
  useLayoutEffect(() => {
    if (!hasActed.current || document.activeElement !== document.body) return;
    hasActed.current = false;
    place.current?.focus({ preventScroll: true });
  }, [rows?.length]);
  if (rows === undefined) return <NoAnswer error={error} />;
  const missing = whyMayNot(needs);
  const onClose = (): void => setDialog(undefined);
  const begin = (title: string, act: RowAct): void => {
    hasActed.current = true;
    if (act.asks !== undefined) return setDialog(<AskDialog {...{ title, act, onClose }} />);
    // No row moves for an error.
    const fail = (problem: unknown): void => setDialog(<Dialog {...{ title, onClose }} children={<ErrorNote error={problem} />} />);
    start(() => act.act({ note: '', isChecked: false }).catch(fail).finally(refreshPolls));
  };
  const buttonOf = (name: string, act: RowAct): JSX.Element => {
    const title = automationTexts.of(act.verb, visibleText(name));
    return (
      <Button key={act.verb} label={title} onClick={() => begin(title, act)}>
        {act.asks === undefined ? act.verb : `${act.verb}…`}
      </Button>
    );
  };
  const buttons = ({ name, acts }: ActRow): JSX.Element => (
    <span class="flow wrap">{acts.length === 0 ? '–' : acts.map((act) => buttonOf(name, act))}</span>
  );
  return (
    <div class="stack" tabIndex={-1} ref={place}>
      <Table
        {...table}
        columns={missing === undefined ? [...columns, automationTexts.acts] : columns}
        rows={rows.map((row) => ({ key: row.key, cells: [...row.cells, buttons(row)] }))}
      />
      {more === true && <p class="muted">{automationTexts.more}</p>}
      {missing !== undefined && <p class="muted">{missing}</p>}
      {error !== undefined && <ErrorNote error={error} />}
      {dialog}
    </div>
  );
}

interface AskDialogProps {
  readonly title: string;
  readonly act: RowAct;
  readonly onClose: () => void;
}

function AskDialog({ title, act: { verb, act, asks }, onClose }: AskDialogProps) {
  const [note, setNote] = useState('');
  const [isChecked, setChecked] = useState(false);
  const decided = () => act({ note: note.trim(), isChecked }).then(onClose).finally(refreshPolls);
  return (
    <ActDialog title={title} submit={verb} act={decided} onClose={onClose}>
      <p>{asks?.text}</p>
      {asks?.note !== undefined && <TextField label={asks.note} value={note} onText={setNote} maxLength={200} autofocus />}
      {asks?.check !== undefined && <Check label={asks.check} checked={isChecked} onCheck={setChecked} />}
    </ActDialog>
  );
}
