import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { CancelMode } from '../../contract/cancel';
import { cancelModes } from '../../contract/cancel';
import { byNow } from '../data/identity';
import { service } from '../data/service';
import { ActDialog, FormDialog } from '../parts/dialog';
import { Select, TextField } from '../parts/fields';
import { filled } from '../parts/plain-text';
import { toast } from '../parts/toast';
import { useBusy } from '../parts/use-busy';
import { texts } from '../texts';
import { endTexts } from '../texts/end';
import { runTexts } from '../texts/run';

interface DialogOf {
  readonly id: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

interface EndDialogProps extends Omit<DialogOf, 'id'> {
  readonly name: 'cancel' | 'terminate';
  readonly isReady: boolean;
  readonly end: () => Promise<unknown>;
  readonly children: ComponentChildren;
}

function EndDialog({ name, isReady, end, onClose, onDone, children }: EndDialogProps) {
  const { title, submit } = endTexts[name];
  const act = async (): Promise<void> => {
    await end();
    toast(runTexts.done[name], { kind: 'good' });
    onClose();
    onDone();
  };
  return (
    <ActDialog {...{ title, submit, isReady, act, onClose }} kind="danger" leave={texts.parts.close}>
      {children}
    </ActDialog>
  );
}

export function CancelDialog({ id, ...rest }: DialogOf) {
  const [mode, setMode] = useState<CancelMode>('now');
  const [reason, setReason] = useState('');
  const words = endTexts.cancel;
  const end = (): Promise<unknown> => service.cancel(id, { mode, ...byNow(), ...filled({ reason: reason.trim() }) });
  return (
    <EndDialog {...rest} name="cancel" isReady end={end}>
      <label class="field">
        <span>{words.mode}</span>
        <Select label={words.mode} value={mode} options={cancelModes.map((one) => [one, words.modes[one]])} onChoose={setMode} />
      </label>
      <TextField label={words.reason} value={reason} onText={setReason} hint={words.reasonHint} rows={2} maxLength={1_000} />
      <p class="muted">{words.note}</p>
    </EndDialog>
  );
}

export function TerminateDialog({ id, ...rest }: DialogOf) {
  const [typed, setTyped] = useState('');
  const { note, confirm } = endTexts.terminate;
  const label = (
    <>
      <span>{confirm}</span>
      <code class="breaks">{id}</code>
    </>
  );
  return (
    <EndDialog {...rest} name="terminate" isReady={typed.trim() === id} end={() => service.terminate(id)}>
      <p>{note}</p>
      <TextField label={label} value={typed} onText={setTyped} spellcheck={false} />
    </EndDialog>
  );
}

interface TextDialogProps {
  readonly title: string;
  readonly label: string;
  readonly value: string;
  readonly rows?: number;
  readonly onClose: () => void;
  readonly onSave: (text: string) => Promise<unknown>;
}

export function TextDialog({ title, label, value, rows, onClose, onSave }: TextDialogProps) {
  const [text, setText] = useState(value);
  const { isBusy, start } = useBusy();
  return (
    <FormDialog
      {...{ title, onClose }}
      submit={texts.parts.save}
      leave={texts.parts.close}
      isReady={text.trim() !== '' && !isBusy}
      onSubmit={() => start(() => onSave(text).then(onClose))}
    >
      <TextField label={label} value={text} onText={setText} {...(rows === undefined ? {} : { rows })} />
    </FormDialog>
  );
}
